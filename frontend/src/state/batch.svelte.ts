import { SvelteMap } from 'svelte/reactivity';
import type { Answer, Operation } from '../lib/wire';
import { Arming } from './arming.svelte';
import type { AppState } from './app.svelte';

type Send = (op: Operation, words: string | undefined) => Promise<boolean>;

/** One answer for several operations of one kind, sent one after the other; what fails stays selected and says why. */
export class Batch {
  readonly arming = new Arming();
  words = $state('');
  total = $state(0);
  done = $state(0);
  running = $state(false);
  needsWords = $state(false);
  readonly failed = new SvelteMap<string, string>();
  readonly ready = $derived.by(() => this.arming.armed && !this.running);
  #set = '';

  constructor(private readonly app: AppState) {}

  /** To be called with what is selected; another set starts the half second anew. */
  arm(ids: string[]): void {
    const set = ids.join(' ');
    if (set === this.#set) return;
    this.#set = set;
    if (!this.running) this.arming.start();
  }

  /** Sends an answer of these words to all, once there are some. */
  worded(answer: Answer): Promise<void> {
    this.needsWords = !this.words.trim();
    return this.needsWords ? Promise.resolve() : this.each(() => true, this.completing(answer));
  }

  completing(answer: Answer): Send {
    return (op, words) => this.app.answering.complete(op, { ...(words && { human_input: words }), ...answer });
  }

  /** Sends something for each of the chosen operations that qualify. */
  async each(which: (op: Operation) => boolean, send: Send): Promise<void> {
    const targets = this.app.inbox.chosen.filter(which);
    const words = this.words.trim() ? this.words : undefined;
    this.running = true;
    this.total = targets.length;
    this.done = 0;
    this.failed.clear();
    await this.app.sent.together(async () => {
      for (const op of targets) {
        if (await send(op, words)) {
          this.done += 1;
          this.app.inbox.selected.delete(op.operation_id);
        } else {
          const outcome = this.app.answering.outcomes.get(op.operation_id);
          this.failed.set(op.operation_id, outcome && 'message' in outcome ? outcome.message : '');
        }
      }
    });
    this.running = false;
  }
}
