import type { Api } from '../backend/api';
import type { Attempt, Live } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** What agents tried that only a person may do, the newest first. */
export class Attempts {
  /** Those to read. */
  open = $state.raw<Attempt[]>([]);
  /** Those an operator has dismissed, once they were asked for. */
  past = $state.raw<Attempt[] | null>(null);
  trouble = $state('');

  constructor(private readonly api: Api) {}

  /** Reads those to read. A server without the check has none. */
  async load(): Promise<void> {
    try {
      this.open = await this.api.attempts();
    } catch {
      // The line is down, which is said elsewhere; it is read again when the line is back.
    }
  }

  async loadPast(): Promise<void> {
    await this.#try(async () => {
      this.past = (await this.api.attempts(true)).filter((attempt) => attempt.dismissed_at);
    });
  }

  of(id: string): Attempt | undefined {
    return [...this.open, ...(this.past ?? [])].find((attempt) => attempt.attempt_id === id);
  }

  hear(message: Live): void {
    if (message.type !== 'attempt') return;
    const { attempt } = message;
    const others = (all: Attempt[]): Attempt[] => all.filter((other) => other.attempt_id !== attempt.attempt_id);
    this.open = attempt.dismissed_at ? others(this.open) : [attempt, ...others(this.open)];
    if (this.past && attempt.dismissed_at) this.past = [attempt, ...others(this.past)];
  }

  dismiss(id: string): Promise<boolean> {
    return this.#try(() => this.api.dismissAttempt(id));
  }

  /** Ends what the agent may do, and dismisses the attempt. */
  revoke(attempt: Attempt): Promise<boolean> {
    return this.#try(async () => {
      await this.api.revokeAgent(attempt.agent_id);
      await this.api.dismissAttempt(attempt.attempt_id);
    });
  }

  async #try(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      return false;
    }
  }
}
