import type { Api } from '../backend/api';
import type { Check, Setting, SettingValue } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** What became of the last change of one setting. */
export interface Change {
  state: 'saving' | 'saved' | 'failed';
  words?: string;
}

/** What an operator manages: the settings, the health checks, and the sign-in code for another browser. */
export class ServerAdmin {
  settings = $state.raw<Setting[]>([]);
  /** By the setting's key. */
  changes = $state<Record<string, Change>>({});
  /** Something was changed that counts from the next start on. */
  restart = $state(false);
  trouble = $state('');

  checks = $state.raw<Check[]>([]);
  checking = $state(false);
  checkTrouble = $state('');

  code = $state.raw<{ code: string; console: string } | null>(null);
  codeTrouble = $state('');

  constructor(private readonly api: Api) {}

  async load(): Promise<void> {
    try {
      this.settings = (await this.api.settings()).settings;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  /** Saves one setting. Another that is refused leaves it as it was. */
  async save(key: string, value: SettingValue): Promise<void> {
    this.changes[key] = { state: 'saving' };
    try {
      const list = await this.api.setting(key, value);
      this.settings = list.settings;
      this.restart ||= !!list.restart_required;
      this.changes[key] = { state: 'saved' };
    } catch (error) {
      this.changes[key] = { state: 'failed', words: errorText(error, 'beside') };
    }
  }

  async check(): Promise<void> {
    this.checking = true;
    try {
      this.checks = await this.api.doctor();
      this.checkTrouble = '';
    } catch (error) {
      this.checkTrouble = errorText(error);
    } finally {
      this.checking = false;
    }
  }

  async invite(): Promise<void> {
    try {
      this.code = await this.api.code();
      this.codeTrouble = '';
    } catch (error) {
      this.codeTrouble = errorText(error);
    }
  }
}
