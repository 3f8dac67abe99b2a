import type { Recording } from '../lib/wire';
import type { AppState } from './app.svelte';
import { errorText } from './sentences.svelte';

const page = 50;

/** All recordings, the newest first, page by page. */
export class Recordings {
  loaded = $state(false);
  loading = $state(false);
  trouble = $state('');
  more = $state(false);
  #ids = $state.raw<string[]>([]);
  #next = '';

  /** As the page knows them now: what runs changes while one looks, and what was deleted is gone. */
  readonly rows = $derived.by<Recording[]>(() => {
    const current = this.app.recorder.current?.recording_id;
    const ids = current && !this.#ids.includes(current) ? [current, ...this.#ids] : this.#ids;
    return ids.flatMap((id) => this.app.recorder.known.get(id) ?? []);
  });

  constructor(private readonly app: AppState) {}

  load(): Promise<void> {
    return this.#read('');
  }

  /** Reads the next page, unless there is none or one is under way. */
  async further(): Promise<void> {
    if (this.more && !this.loading) await this.#read(this.#next);
  }

  async #read(cursor: string): Promise<void> {
    this.loading = true;
    try {
      const part = await this.app.api.recordings({ limit: page, cursor });
      this.app.recorder.take(part.recordings);
      const ids = part.recordings.map((r) => r.recording_id);
      this.#ids = cursor ? [...new Set([...this.#ids, ...ids])] : ids;
      this.#next = part.next ?? '';
      this.more = !!this.#next;
      this.loaded = true;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    } finally {
      this.loading = false;
    }
  }
}
