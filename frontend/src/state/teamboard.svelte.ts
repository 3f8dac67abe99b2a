import type { Api } from '../backend/api';
import { zone } from '../lib/statistics';
import type { TeamBoard } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** Milliseconds between two readings: at least, and at most, because who leaves says nothing. */
const least = 10_000;
const most = 30_000;

/** How the team stands, read again after what happens, until it is closed. Old figures stay until there are new ones. */
export class TeamBoards {
  board = $state.raw<TeamBoard>();
  trouble = $state('');
  #last = 0;
  #due = Infinity;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /** `awake` says whether the page is seen. */
  constructor(
    private readonly api: Pick<Api, 'teamBoard'>,
    private readonly awake: () => boolean = () => true,
  ) {}

  async load(): Promise<void> {
    this.#next(Infinity);
    try {
      this.board = await this.api.teamBoard(zone());
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    }
    this.#last = Date.now();
    this.#next(this.#last + most);
  }

  /** Something happened. */
  hear(): void {
    const soon = this.#last + least;
    if (this.#due !== Infinity && soon < this.#due) this.#next(soon);
  }

  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** Reads again at a time. */
  #next(at: number): void {
    clearTimeout(this.#timer);
    this.#due = at;
    if (at === Infinity || this.#closed) return;
    this.#timer = setTimeout(() => {
      if (this.awake()) void this.load();
      else this.#next(Date.now() + most);
    }, Math.max(at - Date.now(), 0));
  }
}
