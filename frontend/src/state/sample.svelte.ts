import type { Api } from '../backend/api';
import { errorText } from './sentences.svelte';

/** The sample agent, which rings once so that somebody can see what it is like. */
export class Sample {
  ringing = $state(false);
  rang = $state(false);
  trouble = $state('');

  constructor(private readonly api: Api) {}

  async ring(): Promise<void> {
    this.ringing = true;
    try {
      await this.api.sample();
      this.rang = true;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    } finally {
      this.ringing = false;
    }
  }
}
