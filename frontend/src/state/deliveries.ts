import type { Api } from '../backend/api';
import { snoozed } from '../lib/life';
import type { Operation } from '../lib/wire';

export type Channel = 'card' | 'console' | 'notification';

/**
 * Tells the server once per operation and channel that a ring was shown, and after that, that it was seen; once more when it comes
 * back from being snoozed.
 */
export class Deliveries {
  readonly #reported = new Map<string, Promise<void>>();

  /** When the operator last was at something that rings, in ms. */
  touched = 0;

  constructor(
    private readonly api: Api,
    private readonly operation: (id: string) => Operation | undefined,
  ) {}

  shown(id: string, channel: Channel, failed = ''): void {
    void this.#once('shown', id, channel, () => this.api.shown(id, channel, failed));
  }

  seen(id: string, channel: Channel): void {
    this.touched = Date.now();
    const shown = this.#reported.get(this.#key('shown', id, channel));
    void this.#once('seen', id, channel, async () => {
      await shown;
      await this.api.seen(id, channel);
    });
  }

  #key(what: 'shown' | 'seen', id: string, channel: Channel): string {
    return `${what} ${channel} ${id} ${this.operation(id)?.snoozed_until ?? ''}`;
  }

  #once(event: 'shown' | 'seen', id: string, channel: Channel, tell: () => Promise<void>): Promise<void> {
    const op = this.operation(id);
    if (op && snoozed(op, Date.now())) return Promise.resolve();
    const what = this.#key(event, id, channel);
    let telling = this.#reported.get(what);
    if (!telling) {
      // A report that fails is not tried again: the next page view sends it.
      telling = tell().catch(() => void this.#reported.delete(what));
      this.#reported.set(what, telling);
    }
    return telling;
  }
}
