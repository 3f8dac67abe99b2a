/** The page's one clock: it steps once a second, and everything that shows time reads it. */
class Ticker {
  now = $state(Date.now());
  #timer: ReturnType<typeof setInterval> | undefined;

  start(): () => void {
    this.#timer = setInterval(() => (this.now = Date.now()), 1000);
    return () => clearInterval(this.#timer);
  }
}

export const ticker = new Ticker();
