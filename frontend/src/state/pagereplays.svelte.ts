import type { Api } from '../backend/api';
import { replays, type TabReplay } from '../lib/pagereplay';
import type { RecordedEvent } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** How many events of a recording one call reads; those of page replays are large. */
const page = 500;

/** The page replays of a recording, read when they are first shown. */
export class PageReplays {
  all = $state.raw<TabReplay[]>([]);
  loaded = $state(false);
  trouble = $state('');

  constructor(
    private readonly api: Api,
    private readonly id: string,
  ) {}

  async load(): Promise<void> {
    this.trouble = '';
    try {
      const found: RecordedEvent[] = [];
      let after: number | undefined = 0;
      while (after !== undefined) {
        const part = await this.api.recordedEvents(this.id, after, page);
        found.push(...part.events.filter((event) => event.dom));
        after = part.events.length ? part.next : undefined;
      }
      this.all = replays(found);
      this.loaded = true;
    } catch (error) {
      this.trouble = errorText(error);
    }
  }
}
