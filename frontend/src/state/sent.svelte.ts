import { byUrgency } from '../lib/groups';
import type { Operation } from '../lib/wire';
import { m } from '../paraglide/messages';
import type { AppState } from './app.svelte';
import type { Command } from './commands.svelte';
import { ticker } from './ticker.svelte';
import { appWindow } from './window.svelte';

/** How long it is said that something was sent, once that cannot be undone any more, in milliseconds. */
const lasts = 3000;

/** Where the reason to decline operations is kept while it is written. */
export const reasonKey = (ids: string[]): string => 'reason ' + ids.join(' ');

/** How long an answer is held, in milliseconds. */
const held = (op: Operation): number => (op.leaving ? Date.parse(op.leaving.leaves_at) - Date.parse(op.leaving.at) : 0);

/** What was sent together, until when that is said, and in other words where it came to nothing. */
export interface Sent {
  ids: string[];
  until: number;
  said?: string;
}

/** What was sent here lately. The newest is said, and can be undone for a moment; then the one before it. */
export class SentAnswers {
  /** Somebody is at the words: they stay. */
  kept = $state(false);
  #list = $state.raw<Sent[]>([]);
  readonly current = $derived(this.#list.findLast((sent) => this.kept || sent.until > ticker.now));
  #together: string[] | undefined;

  constructor(private readonly app: AppState) {}

  /** Notes that an operation was answered or declined here, and opens what waits next. */
  add(op: Operation): void {
    this.#end(op);
    this.#say([...(this.#together ?? []), op.operation_id], held(op) + lasts);
    if (this.#together) this.#together.push(op.operation_id);
    else void this.#advance(op);
  }

  /** What is sent meanwhile is undone together. */
  async together(send: () => Promise<void>): Promise<void> {
    this.#together = [];
    try {
      await send();
    } finally {
      this.#together = undefined;
    }
  }

  /** Those of the operations whose answers or declines can still be undone. */
  undoable(ids: string[]): Operation[] {
    return ids.flatMap((id) => this.app.operations.all.get(id) ?? []).filter((op) => op.leaving?.by.name === this.app.operator);
  }

  /** How many seconds are left to undo them; 0: none. The clock of the server counts, by the time that passed here. */
  left(ids: string[]): number {
    return Math.max(0, ...this.undoable(ids).map((op) => Math.min(Math.ceil((this.#end(op) - ticker.now) / 1000), Math.round(held(op) / 1000))));
  }

  readonly #ends = new Map<string, number>();
  #end(op: Operation): number {
    if (!op.leaving) return 0;
    const key = `${op.operation_id} ${op.leaving.leaves_at}`;
    const known = this.#ends.get(key) ?? Date.now() + held(op);
    this.#ends.set(key, known);
    return known;
  }

  /** Undoes what can be, and goes back to it. */
  async undo(ids: string[]): Promise<void> {
    let failed = '';
    const all = this.undoable(ids);
    for (const { operation_id: id, leaving } of all) {
      if (await this.app.answering.undo(id)) {
        if (leaving?.declined) this.app.unsent.set(reasonKey(ids), leaving.declined);
        const now = this.app.operations.all.get(id);
        if (now) this.app.draft(now).follow(now);
        continue;
      }
      const outcome = this.app.answering.outcomes.get(id);
      failed = outcome && 'message' in outcome ? outcome.message : m.undo_failed();
    }
    const [first] = all;
    this.dismiss();
    this.#say([], lasts, failed || (first?.leaving?.declined ? m.undo_done_declined : m.undo_done)({ n: all.length }));
    if (first && !failed && all.length === 1 && appWindow.mode === 'console') this.app.route.go('inbox', first.operation_id);
  }

  /** Says no more of the newest. */
  dismiss(): void {
    this.#list = this.#list.filter((sent) => sent !== this.current);
    this.kept = false;
  }

  #say(ids: string[], milliseconds: number, said?: string): void {
    const before = this.#list.filter((sent) => sent.until > Date.now() && !(this.#together?.length && sent.ids.includes(this.#together[0] ?? '')));
    this.#list = [...before, { ids, until: Date.now() + milliseconds, said }];
  }

  /** Opens the request that waits next, where the operator is still at the one that was answered, and wants to. */
  async #advance(op: Operation): Promise<void> {
    const { route, inbox } = this.app;
    const here = (): boolean => appWindow.mode === 'console' && ['inbox', 'findings'].includes(route.page) && route.id === op.operation_id;
    if (!here() || !(await this.app.wants('ui.auto_advance')) || !here()) return;
    const waiting = inbox.groups.find(({ name }) => name === 'ringing')?.operations ?? [];
    const next = waiting.find((other) => byUrgency(op, other) < 0) ?? waiting[0];
    if (next) route.go('inbox', next.operation_id);
  }
}

/** Undoes what was sent last. In a text field its key is the field's. */
export const undoCommand = (sent: SentAnswers): Command => ({
  id: 'undo', label: m.undo_answer, keys: ['z', 'Mod+z'], group: 'answer',
  when: () => sent.left(sent.current?.ids ?? []) > 0, run: () => void sent.undo(sent.current?.ids ?? []),
});
