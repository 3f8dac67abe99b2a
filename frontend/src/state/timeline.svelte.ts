import type { Api } from '../backend/api';
import type { TimelineEvent } from '../lib/wire';

/** The events of the operation that is open, read again whenever its version grows. */
export class Timeline {
  events = $state.raw<TimelineEvent[]>([]);
  #at = '';

  constructor(private readonly api: Api) {}

  follow(id: string, version: number): void {
    const at = `${id} ${version}`;
    if (at === this.#at) return;
    if (!this.#at.startsWith(id + ' ')) this.events = [];
    this.#at = at;
    this.api.events(id).then(
      (events) => {
        if (this.#at === at) this.events = readable(events);
      },
      () => (this.#at = ''),
    );
  }
}

/** Drafts are saved all the time: of a run of them only the last is worth a line. */
function readable(events: TimelineEvent[]): TimelineEvent[] {
  return events.filter((event, i) => event.type !== 'input_saved' || events[i + 1]?.type !== 'input_saved');
}
