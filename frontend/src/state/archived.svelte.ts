import { SvelteSet } from 'svelte/reactivity';
import type { Api } from '../backend/api';
import { ArchivesApi } from '../backend/archives';
import type { ArchiveDifference } from '../lib/wire';
import { Trying } from './trying.svelte';

/** What one backup of Deskbell's data has, and restoring some of it. */
export class Archived extends Trying {
  /** Its missing operations are those that were searched for. */
  now = $state.raw<ArchiveDifference | null>(null);
  /** What the list was searched for. */
  text = '';
  readonly ticked = new SvelteSet<string>();
  /** How many operations were restored last. */
  restored = $state(0);

  private readonly api: ArchivesApi;

  constructor(api: Api, readonly id: string) {
    super();
    this.api = new ArchivesApi(api.to);
  }

  search(text: string): Promise<boolean> {
    return this.try(async () => {
      this.now = await this.api.show(this.id, text);
      this.text = text;
      this.ticked.clear();
    });
  }

  tick(id: string, on: boolean): void {
    if (on) this.ticked.add(id);
    else this.ticked.delete(id);
  }

  /** Restores what is ticked. The list then has what is missing still, also where it stopped at one that could not be restored. */
  async restore(): Promise<void> {
    const ids = [...this.ticked];
    this.restored = 0;
    const all = await this.try(() => this.api.restore(this.id, ids));
    const { trouble } = this;
    await this.search(this.text);
    this.trouble ||= trouble;
    if (all) this.restored = ids.length;
  }
}
