import type { Live } from '../lib/wire';

type SignIn = Extract<Live, { type: 'session' }>;

/** How long a one-time code counts, in ms. */
const codeLife = 600_000;
/** How many are shown at a time: the newest. */
const most = 5;

/** Who signs in while this page is open, for its operator to see. */
export class SignIns {
  /** In terminals and by phones, and what was blocked; those that the operator has not closed. */
  list = $state.raw<SignIn[]>([]);
  readonly #codes = new Set<() => void>();

  hear(message: Live): void {
    if (message.type !== 'session') return;
    if (message.means !== 'code' || message.blocked) this.list = [...this.list, message].slice(-most);
    else for (const used of [...this.#codes]) used();
  }

  close(one: SignIn): void {
    this.list = this.list.filter((other) => other !== one);
  }

  /** Takes a code off the screen when a code was used, or when it has expired. Returns the stop. */
  hides(code: () => void): () => void {
    const stop = (): void => {
      clearTimeout(late);
      this.#codes.delete(hide);
    };
    const hide = (): void => {
      stop();
      code();
    };
    const late = setTimeout(hide, codeLife);
    this.#codes.add(hide);
    return stop;
  }
}
