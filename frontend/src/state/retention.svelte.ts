import type { Api } from '../backend/api';
import type { Removal } from '../lib/wire';
import { Trying } from './trying.svelte';

/** What retention would remove by the settings, and removing it now. */
export class Retention extends Trying {
  plan = $state.raw<Removal | null>(null);
  /** What was removed last. */
  done = $state.raw<Removal | null>(null);

  constructor(private readonly api: Api) {
    super();
  }

  load(): Promise<boolean> {
    return this.try(async () => (this.plan = await this.api.retention(false)));
  }

  /** Resolves to '', or to why it was not removed. */
  async run(): Promise<string> {
    if (!(await this.try(async () => (this.done = await this.api.retention(true))))) return this.trouble;
    await this.load();
    return '';
  }
}
