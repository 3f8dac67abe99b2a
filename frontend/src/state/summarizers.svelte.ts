import type { Api } from '../backend/api';
import type { Known, Summarizers } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** The summarizers there are: what each reads, whether it sends anything away, and how its drafts fared. */
export class SummarizerRegistry {
  all = $state.raw<Summarizers>({ summarizers: [], problems: [], consents: [], folder: '' });
  loaded = $state(false);
  trouble = $state('');
  #asked: Promise<void> | undefined;

  constructor(private readonly api: Api) {}

  /** Reads the list, once. */
  need(): Promise<void> {
    this.#asked ??= this.load();
    return this.#asked;
  }

  async load(): Promise<void> {
    try {
      this.all = await this.api.summarizers();
      this.loaded = true;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
      this.#asked = undefined;
    }
  }

  known(name: string): Known | undefined {
    return this.all.summarizers.find((one) => one.name === name);
  }

  /** What people call it, in a language. */
  title(name: string, language: string): string {
    const title = this.known(name)?.title;
    return title?.[language] || title?.en || name;
  }

  /** Takes a consent back. Returns whether that worked. */
  async forget(id: string): Promise<boolean> {
    try {
      await this.api.forgetConsent(id);
      await this.load();
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      return false;
    }
  }
}
