import type { Pressed } from './keys';

/** How long keys are dead after the window got the keyboard, in milliseconds. */
const dead = 500;

/**
 * Keeps what was typed for another program from answering here. For half a second after the window got the keyboard a
 * key only writes text; and one that was down then stays dead until it is let go, so that its repeats answer nothing.
 */
export class KeyGuard {
  #since = -Infinity;
  readonly #down = new Set<string>();

  /** Now is in milliseconds, from any beginning. */
  constructor(private readonly now: () => number) {}

  /** To be called when the window gets the keyboard. */
  taken(): void {
    this.#since = this.now();
    this.#down.clear();
  }

  /** Whether this key, pressed or let go, is to be dropped. */
  drops(event: Pressed & { type: string; code: string; isComposing: boolean }, inField: boolean): boolean {
    if (event.isComposing) return false;
    if (event.type === 'keyup') return this.#down.delete(event.code);
    if (!this.#down.has(event.code) && this.now() - this.#since >= dead) return false;
    this.#down.add(event.code);
    const writes = inField && event.key !== 'Enter' && event.key !== 'Escape' && !event.ctrlKey && !event.metaKey;
    return !writes;
  }
}
