import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import type { PlanResponse } from '../lib/planwire';
import { ended } from '../lib/life';
import type { Answer, Operation, PermissionAnswer } from '../lib/wire';
import type { Operations } from './operations.svelte';
import { problemWords } from './sentences.svelte';

/** What came of something an operator did. */
export type Outcome =
  | { kind: 'sent' }
  /** Somebody was faster, or the operation ended: nothing was changed. */
  | { kind: 'overtaken'; message: string }
  /** No server answered: nothing is known to have been sent. */
  | { kind: 'offline' }
  | { kind: 'refused'; message: string };

/** Sends what operators decide, one thing at a time per operation, and remembers what came of it. */
export class Answering {
  readonly busy = new SvelteSet<string>();
  readonly outcomes = new SvelteMap<string, Outcome>();
  /** Questions that were asked again instead of being answered, and as which. */
  readonly again = new SvelteMap<string, string>();
  /** Called with each operation that was answered or declined here. */
  answered: (op: Operation) => void = () => undefined;

  constructor(
    private readonly api: Api,
    private readonly operations: Operations,
  ) {}

  /** Answers, bound to the digest of the bytes that were shown: the request's, or of a call that was edited. */
  complete(op: Operation, answer: Answer, digest = op.digest): Promise<boolean> {
    return this.#send(op.operation_id, () => this.api.complete(op.operation_id, digest, answer));
  }

  /** Answers a question of the gatekeeper's, which does what the choice needs first: making a copy takes its time. */
  async permit(op: Operation, answer: PermissionAnswer): Promise<boolean> {
    let again: Operation | undefined;
    const sent = await this.#send(op.operation_id, async () => {
      const got = await this.api.gate.answer(op.operation_id, answer);
      if (got.operation_id !== op.operation_id) again = got;
      return got;
    });
    if (!again) return sent;
    // What would run has changed: the answer was not used, and another question is asked in its place.
    this.outcomes.delete(op.operation_id);
    this.operations.refresh(op.operation_id);
    this.again.set(op.operation_id, again.operation_id);
    return false;
  }

  /** Answers a plan; among several operators that may not end it. */
  respond(op: Operation, response: PlanResponse): Promise<boolean> {
    return this.#send(op.operation_id, async () => {
      await this.api.plans.respond(op.operation_id, response);
      // It was sent, whatever becomes of reading it again.
      return this.api.operation(op.operation_id).catch(() => {
        this.operations.refresh(op.operation_id);
        return undefined;
      });
    });
  }

  decline(op: Operation, reason: string): Promise<boolean> {
    return this.#send(op.operation_id, () => this.api.decline(op.operation_id, reason));
  }

  /** Undoes an answer that has not left. */
  undo(id: string): Promise<boolean> {
    return this.#send(id, () => this.api.undo(id), false);
  }

  claim(id: string): Promise<boolean> {
    return this.#send(id, () => this.api.claim(id), false);
  }

  release(id: string): Promise<boolean> {
    return this.#send(id, () => this.api.release(id), false);
  }

  snooze(id: string, until: string | null): Promise<boolean> {
    return this.#send(id, () => this.api.snooze(id, until), false);
  }

  /** Asks the agent something; it waits for the reply. */
  ask(id: string, text: string): Promise<boolean> {
    return this.#send(id, () => this.api.reply(id, text), false);
  }

  /** Discards what was decided about it and waits for the team, or came too late. */
  async discard(id: string): Promise<void> {
    await this.#send(id, () => this.api.discardLater(id).then(() => this.api.operation(id)), false);
  }

  /** Adds a message to an operation that has ended. */
  comment(id: string, text: string): Promise<boolean> {
    return this.#send(id, () => this.api.comment(id, text), false);
  }

  /** Notes that an answer given outside the page did not arrive. */
  refused(id: string, message: string): void {
    this.outcomes.set(id, { kind: 'refused', message });
  }

  forget(id: string): void {
    this.outcomes.delete(id);
  }

  async #send(id: string, send: () => Promise<Operation | undefined>, answers = true): Promise<boolean> {
    if (this.busy.has(id)) return false;
    this.busy.add(id);
    try {
      this.operations.take(await send());
      const now = this.operations.all.get(id);
      const kept = now?.later && !now.later.late;
      if (answers && !kept) this.outcomes.set(id, { kind: 'sent' });
      else this.outcomes.delete(id);
      if (answers && now && ended(now)) this.answered(now);
      return true;
    } catch (error) {
      // Who did not want to prove that they are there has answered nothing, and knows it.
      if (error instanceof Problem && error.proof) this.outcomes.delete(id);
      else this.outcomes.set(id, outcomeOf(error));
      this.operations.refresh(id);
      return false;
    } finally {
      this.busy.delete(id);
    }
  }
}

function outcomeOf(error: unknown): Outcome {
  if (!(error instanceof Problem)) throw error;
  if (error.offline) return { kind: 'offline' };
  return error.conflict ? { kind: 'overtaken', message: problemWords(error) } : { kind: 'refused', message: problemWords(error) };
}
