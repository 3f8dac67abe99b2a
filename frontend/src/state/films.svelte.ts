import type { Api } from '../backend/api';
import { films, type Film } from '../lib/film';
import type { RecordedEvent } from '../lib/wire';
import { wordsOf } from './roster.svelte';

/** Events of films are large: so many of a recording are read at a time. */
const page = 500;

/** The films of a recording, read when somebody wants to see them. */
export class Films {
  all = $state.raw<Film[]>([]);
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
      this.all = films(found);
      this.loaded = true;
    } catch (error) {
      this.trouble = wordsOf(error);
    }
  }
}
