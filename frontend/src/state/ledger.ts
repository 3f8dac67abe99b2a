import type { Api } from '../backend/api';

export type Channel = 'card' | 'console' | 'notification';

/** Tells the server once per operation and channel that a ring was shown, and that it was seen. */
export class Ledger {
  readonly #told = new Set<string>();

  constructor(private readonly api: Api) {}

  shown(id: string, channel: Channel, failed = ''): void {
    this.#once(`shown ${channel} ${id}`, () => this.api.shown(id, channel, failed));
  }

  seen(id: string, channel: Channel): void {
    this.#once(`seen ${channel} ${id}`, () => this.api.seen(id, channel));
  }

  #once(what: string, tell: () => Promise<void>): void {
    if (this.#told.has(what)) return;
    this.#told.add(what);
    // The ledger is a record, not a duty: when it cannot be told now, the next page view tells it.
    tell().catch(() => this.#told.delete(what));
  }
}
