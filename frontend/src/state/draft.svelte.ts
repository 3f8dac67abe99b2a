import type { Api } from '../backend/api';
import { draftOf, emptyForm, formOf, sameForm, type AnswerForm } from '../lib/answer';
import type { Operation } from '../lib/wire';

export type DraftState = 'none' | 'changed' | 'saving' | 'kept' | 'failed';

const pause = 400;

/**
 * The answer somebody writes to one operation. Every pause in typing saves it on the server; leaving the page saves
 * what is left. What was typed stays here whatever happens to the operation.
 */
export class Draft {
  form = $state<AnswerForm>(emptyForm());
  state = $state<DraftState>('none');
  keptAt = $state('');
  readonly id: string;
  #saved: AnswerForm = emptyForm();
  /** Something was typed in this page: what is saved elsewhere must not take its place. */
  #typed = false;
  /** It was sent, and that can still be undone. */
  #leaving = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #saving: Promise<void> | undefined;

  constructor(
    private readonly api: Api,
    private readonly operator: string,
    op: Operation,
  ) {
    this.id = op.operation_id;
    this.follow(op);
  }

  /** Takes over a draft saved elsewhere by the same operator, unless something was typed here; and what was sent and undone. */
  follow(op: Operation): void {
    if (!op.leaving && this.#leaving) {
      this.#leaving = false;
      if (this.#typed) {
        this.keptAt = op.draft?.at ?? '';
        this.#saved = op.draft ? formOf(op.draft) : emptyForm();
        this.state = sameForm(this.form, this.#saved) ? 'kept' : 'changed';
        void this.save(); // what was typed here may say more than what was sent
      }
    }
    if (!op.draft || op.draft.by.name !== this.operator || this.#typed) return;
    const form = formOf(op.draft);
    if (!sameForm(form, this.#saved)) this.form = form;
    this.#saved = formOf(op.draft);
    this.keptAt = op.draft.at;
    this.state = 'kept';
  }

  /** To be called after every change of the form. */
  touch(): void {
    this.#typed = true;
    this.state = 'changed';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), pause);
  }

  /** Saves now, if anything changed. Resolves when it is kept, or when that failed and `state` says so. A page that is left waits for nothing: what is under way may end with it, and is sent again. */
  async save(leaving = false): Promise<void> {
    clearTimeout(this.#timer);
    if (!leaving) await this.#saving;
    if (this.state !== 'changed' && this.state !== 'failed' && !(leaving && this.state === 'saving')) return;
    const form = $state.snapshot(this.form as unknown) as AnswerForm;
    if (sameForm(form, this.#saved)) {
      this.state = this.keptAt ? 'kept' : 'none';
      return;
    }
    this.state = 'saving';
    this.#saving = this.#send(form, leaving);
    await this.#saving;
    this.#saving = undefined;
  }

  /** Holds back saving until the next change or save. */
  pause(): void {
    clearTimeout(this.#timer);
  }

  /** Throws away what was written, here and on the server. */
  async clear(): Promise<void> {
    this.form = emptyForm();
    this.state = 'changed';
    await this.save();
    this.keptAt = '';
    this.state = 'none';
    this.#typed = false;
  }

  /** Forgets that anything is unsaved, once the answer has been sent; `leaving`: until that is undone. */
  sent(leaving = false): void {
    clearTimeout(this.#timer);
    this.#leaving = leaving;
    this.state = 'none';
    this.keptAt = '';
  }

  async #send(form: AnswerForm, leaving: boolean): Promise<void> {
    try {
      await this.api.input(this.id, draftOf(form), leaving);
      this.#saved = form;
      this.keptAt = new Date().toISOString();
      // Something may have been typed while the call was under way; its own pause saves it.
      if (this.state === 'saving') this.state = 'kept';
    } catch {
      if (this.state !== 'saving') return;
      this.state = 'failed';
      this.#timer = setTimeout(() => void this.save(), 3000);
    }
  }
}
