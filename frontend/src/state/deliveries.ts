import type { Api } from '../backend/api';

export type Channel = 'card' | 'console' | 'notification';

/** Tells the server once per operation and channel that a ring was shown, and after that, that it was seen. */
export class Deliveries {
  readonly #reported = new Map<string, Promise<void>>();

  /** When the operator last was at something that rings, in ms. */
  touched = 0;

  constructor(private readonly api: Api) {}

  shown(id: string, channel: Channel, failed = ''): void {
    void this.#once(`shown ${channel} ${id}`, () => this.api.shown(id, channel, failed));
  }

  seen(id: string, channel: Channel): void {
    this.touched = Date.now();
    const shown = this.#reported.get(`shown ${channel} ${id}`);
    void this.#once(`seen ${channel} ${id}`, async () => {
      await shown;
      await this.api.seen(id, channel);
    });
  }

  #once(what: string, tell: () => Promise<void>): Promise<void> {
    let telling = this.#reported.get(what);
    if (!telling) {
      // A report that fails is not tried again: the next page view sends it.
      telling = tell().catch(() => void this.#reported.delete(what));
      this.#reported.set(what, telling);
    }
    return telling;
  }
}
