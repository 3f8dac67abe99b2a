const tick = 100;
const ticks = 5;

/**
 * Keeps answers dead for half a second after something appeared or moved under the pointer, so that a click meant
 * for what was there before cannot answer. `count` runs from 0 to 5, once every 100 ms; at 5 it is armed.
 */
export class Arming {
  count = $state(0);
  readonly armed = $derived(this.count >= ticks);
  readonly secondsLeft = $derived(((ticks - this.count) * tick) / 1000);
  #timer: ReturnType<typeof setInterval> | undefined;

  /** Starts the half second, again if it is running. */
  start(): void {
    clearInterval(this.#timer);
    this.count = 0;
    this.#timer = setInterval(() => {
      this.count += 1;
      if (this.count >= ticks) clearInterval(this.#timer);
    }, tick);
  }

  stop(): void {
    clearInterval(this.#timer);
  }
}
