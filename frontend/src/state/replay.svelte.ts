import type { Api } from '../backend/api';
import type { ReplayState } from '../lib/wire';
import { errorText } from './sentences.svelte';

const pace = 500;

/** A recording that is played back on the desktop itself. */
export class Replay {
  state = $state.raw<ReplayState | null>(null);
  busy = $state(false);
  trouble = $state('');
  readonly playing = $derived(this.state?.state === 'playing');
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly api: Api,
    private readonly id: () => string,
  ) {}

  /** Follows it, whoever began it. Returns the stop. */
  start(): () => void {
    const look = (): void => void this.#do(() => this.api.replayState(this.id()));
    look();
    this.#timer = setInterval(() => {
      if (this.playing) look();
    }, pace);
    return () => clearInterval(this.#timer);
  }

  play(speed: number): Promise<void> {
    return this.#do(() => this.api.replay(this.id(), speed));
  }

  stop(): Promise<void> {
    return this.#do(() => this.api.stopReplay(this.id()));
  }

  async #do(call: () => Promise<ReplayState>): Promise<void> {
    this.busy = true;
    try {
      this.state = await call();
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    } finally {
      this.busy = false;
    }
  }
}
