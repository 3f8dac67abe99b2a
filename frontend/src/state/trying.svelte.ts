import { errorText } from './sentences.svelte';

/** What asks the server, and shows whether it is busy and what went wrong. */
export class Trying {
  trouble = $state('');
  busy = $state(false);

  /** Returns whether it worked. */
  protected async try(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    try {
      await work();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
