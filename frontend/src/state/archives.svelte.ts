import type { Api } from '../backend/api';
import { ArchivesApi } from '../backend/archives';
import type { ArchiveState } from '../lib/wire';
import { Trying } from './trying.svelte';

/** Backups of Deskbell's data, and making one. */
export class Archives extends Trying {
  now = $state.raw<ArchiveState | null>(null);
  making = $state(false);

  private readonly api: ArchivesApi;

  constructor(api: Api) {
    super();
    this.api = new ArchivesApi(api.to);
  }

  load(): Promise<boolean> {
    return this.try(async () => (this.now = await this.api.state()));
  }

  /** Makes a backup, and follows how far it is. */
  async make(): Promise<void> {
    this.making = true;
    const follow = setInterval(() => void this.api.state().then((now) => (this.now = now), () => undefined), 1000);
    await this.try(() => this.api.make());
    clearInterval(follow);
    this.making = false;
    const { trouble } = this;
    await this.load();
    this.trouble ||= trouble;
  }
}
