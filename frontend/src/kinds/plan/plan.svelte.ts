import { tick } from 'svelte';
import { dangerous, ended } from '../../lib/life';
import { alike, planOf, sendable, together } from './edit';
import { fieldsOf, movedOf, sameTasks, type Listed } from './diff';
import type { PlanAction, PlanHistory, PlanQuestion, PlanResponse, Preset, Task, TaskChange, TasksSummary, TaskSummary } from '../../lib/planwire';
import { riskLevel } from '../../lib/verdict';
import type { Operation } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import { mac, typing, type Command } from '../../state/commands.svelte';
import type { Controller } from '../kind';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { PlanEditing } from './editing.svelte';
import { careOf, changeWord, type Care } from './words';
import { errorText } from '../../state/sentences.svelte';

const cancelDialog = () => import('./CancelPlanDialog.svelte');

/** How long nothing may change before the server is asked what it comes to, in milliseconds. */
const pause = 350;

/** Who has to agree, and what they said. */
export interface Say {
  name: string;
  mine: boolean;
  at?: string;
  action?: PlanAction;
  tasks?: Listed[];
  changes: TaskChange[];
  words?: string;
  /** Just what would be sent from here, too. */
  same: boolean;
}

/** A plan that waits, on the table: its tasks as they are being changed, and what can be answered. */
export class Plan implements Controller {
  readonly editing: PlanEditing;
  /** The id of the task that has the keyboard. */
  at = $state('');
  /** How many tasks of the same plan stand before these, and are not to be changed. */
  ahead = $state(0);
  /** The last thing done, for who cannot see it. */
  said = $state('');
  history = $state.raw<PlanHistory | undefined>();
  historyTrouble = $state('');
  presets = $state.raw<Preset[]>([]);
  /** Why the changes could not be assessed. */
  trouble = $state('');
  assessing = $state(false);
  /** Somebody tried to answer while a task cannot run as it stands. */
  #tried = $state(false);
  #assessed = $state.raw<{ tasks: Listed[]; summary: TasksSummary } | undefined>();
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #loaded = false;

  readonly question = $derived.by<(PlanQuestion & { tasks: Listed[] }) | undefined>(() => planOf(this.opened.op));
  readonly old = $derived.by<Listed[]>(() => this.question?.tasks ?? []);
  readonly canModify = $derived.by<boolean>(() => !!this.question?.options.includes('modify'));
  /** One task of a plan: it is changed, and not joined by others. */
  readonly single = $derived.by<boolean>(() => !!this.question?.of);
  readonly together = $derived.by<boolean>(() => !!this.question && together(this.question));
  readonly words = $derived.by<string>(() => this.opened.draft.form.human_input.trim());
  /** How many changes would be sent. */
  readonly count = $derived.by<number>(() => this.editing.changes.length);
  /** What the tasks come to as they stand; where that is not known yet, as it was last. */
  readonly summary = $derived.by<TasksSummary | undefined>(() => (this.editing.changed ? (this.#assessed?.summary ?? this.question?.tasks_summary) : this.question?.tasks_summary));
  readonly fresh = $derived.by<boolean>(() => !this.editing.changed || (!!this.#assessed && sameTasks(this.#assessed.tasks, this.#said)));
  /** The tasks that say what is to be done: only of these there is something to know. */
  readonly #said = $derived.by<Listed[]>(() => this.editing.tasks.filter(({ description }) => description.trim()));
  /** Whether what would be sent lets something dangerous run. */
  readonly grave = $derived.by<boolean>(() => {
    const risk = this.summary?.risk_level ?? 'none';
    const unknown = !this.fresh && !!this.opened.op && dangerous(this.opened.op);
    return unknown || riskLevel(risk) >= riskLevel('high');
  });
  readonly cares = $derived.by<Care[]>(() => careOf(this.editing.tasks.flatMap((task, i) => {
    const known = this.known(task);
    return known ? [{ place: this.ahead + i + 1, known }] : [];
  })));
  /** Why the last try to answer was not even sent. */
  readonly lack = $derived.by<'' | 'empty' | 'args' | 'none'>(() => (!this.#tried ? '' : this.editing.tasks.length ? (this.editing.lack?.why ?? '') : 'none'));
  readonly says = $derived.by<Say[]>(() => this.#says());
  readonly mine = $derived.by<Say | undefined>(() => this.says.find((say) => say.mine && say.at));

  constructor(private readonly opened: OpenOperation) {
    this.editing = new PlanEditing(opened.draft, () => this.old);
  }

  get shared(): boolean {
    return this.together;
  }

  unsent(): string[] {
    return this.editing.changes.map((change) => m.plan_change_line({ how: changeWord(change), what: change.description }));
  }

  /** What is known of a task as it stands. */
  known(task: Listed): TaskSummary | undefined {
    const at = this.old.findIndex(({ id }) => id === task.id);
    const was = this.old[at];
    if (was && !fieldsOf(was, task).length) return this.question?.tasks_summary.tasks.find((one) => one.id === task.id) ?? this.question?.tasks_summary.tasks[at];
    const i = this.#assessed?.tasks.findIndex(({ id }) => id === task.id) ?? -1;
    const then = this.#assessed?.tasks[i];
    return then && !fieldsOf(then, task).length ? this.#assessed?.summary.tasks[i] : undefined;
  }

  /** Asks for what stands beside the plan, once. */
  async load(): Promise<void> {
    const op = this.opened.op;
    if (!op || ended(op) || this.#loaded) return;
    this.#loaded = true;
    const { plans } = this.opened.app.api;
    const [history, presets] = await Promise.allSettled([plans.history(op.operation_id), plans.presets()]);
    if (history.status === 'fulfilled') this.history = history.value;
    else this.historyTrouble = errorText(history.reason);
    if (presets.status === 'fulfilled') this.presets = presets.value;
  }

  /** To be called whenever the tasks have changed: asks what they come to at the next pause. Returns the undo. */
  assess(): () => void {
    const tasks = this.#said;
    clearTimeout(this.#timer);
    if (this.editing.changed && !this.fresh && tasks.length) this.#timer = setTimeout(() => void this.#assess(tasks), pause);
    return () => clearTimeout(this.#timer);
  }

  async #assess(tasks: Listed[]): Promise<void> {
    const turn = ++this.#asked;
    this.assessing = true;
    try {
      const summary = await this.opened.app.api.plans.assess(this.opened.id, tasks);
      if (turn !== this.#asked) return;
      this.#assessed = { tasks, summary };
      this.trouble = '';
    } catch (error) {
      if (turn === this.#asked) this.trouble = errorText(error);
    } finally {
      if (turn === this.#asked) this.assessing = false;
    }
  }

  /** Puts the keyboard on a task, once it is drawn. */
  focus(id: string): void {
    void tick().then(() => document.getElementById(rowId(this.opened.id, id))?.focus());
  }

  edit(id: string): void {
    if (!this.canModify) return;
    this.editing.edit(id);
  }

  keep(): void {
    const id = this.editing.open;
    this.editing.keep();
    this.#tried = false;
    this.focus(id);
  }

  putBack(): void {
    const id = this.editing.open;
    const place = this.editing.placeOf(id);
    this.editing.putBack();
    this.#tried = false;
    this.focus(this.editing.find(id) ? id : (this.editing.tasks[Math.max(0, place - 2)]?.id ?? ''));
  }

  addEmpty(): void {
    const place = this.at ? this.editing.placeOf(this.at) + 1 : undefined;
    this.editing.addEmpty(place);
  }

  /** Puts tasks in that are not there yet, below the one that has the keyboard or at the end. */
  use(tasks: readonly Task[]): void {
    const fresh = tasks.filter((task) => !this.editing.tasks.some((other) => alike(other, task))).map(({ id: _id, ...task }) => task);
    const place = this.at ? this.editing.placeOf(this.at) + 1 : undefined;
    const ids = this.editing.add(fresh, place);
    this.said = ids.length ? m.plan_said_added({ n: ids.length }) : m.plan_said_there();
    const id = ids[0];
    if (id) this.focus(id);
  }

  remove(id: string): void {
    const place = this.editing.placeOf(id);
    const what = this.editing.find(id)?.description ?? '';
    this.editing.remove(id);
    this.said = m.plan_said_removed({ what });
    const next = this.editing.tasks[Math.min(place, this.editing.tasks.length) - 1];
    if (next) this.focus(next.id);
  }

  restore(id: string): void {
    this.editing.restore(id);
    this.said = m.plan_said_restored({ what: this.editing.find(id)?.description ?? '' });
    this.focus(id);
  }

  /** Moves a task by places, or to one, and keeps the keyboard on it. */
  move(id: string, place: number): void {
    const n = this.editing.move(id, place);
    this.said = m.plan_said_moved({ what: this.editing.find(id)?.description ?? '', n: this.ahead + n, all: this.ahead + this.editing.tasks.length });
    this.focus(id);
  }

  split(id: string): void {
    const n = this.ahead + this.editing.placeOf(id);
    this.editing.split(id);
    this.said = m.plan_said_split({ n, next: n + 1 });
  }

  duplicate(id: string): void {
    const fresh = this.editing.duplicate(id);
    this.said = m.plan_said_added({ n: 1 });
    this.focus(fresh);
  }

  /** All as the agent sent it; after a reload there is no step to go back by. */
  reset(): void {
    this.editing.reset();
    this.said = m.plan_said_undone();
  }

  undo(): void {
    this.editing.undo();
    this.said = m.plan_said_undone();
  }

  redo(): void {
    this.editing.redo();
    this.said = m.plan_said_redone();
  }

  /** Takes over what somebody else sent; it can be undone. */
  takeOver(say: Say): void {
    this.editing.take(say.tasks ?? this.old, movedOf(say.changes));
    if (say.words) {
      this.opened.draft.form.human_input = say.words;
      this.opened.draft.touch();
    }
    this.said = m.plan_said_taken({ name: say.name });
  }

  /** Keeps tasks as a preset. Returns why it could not be, or ''. */
  async savePreset(preset: Preset): Promise<string> {
    try {
      const saved = await this.opened.app.api.plans.putPreset(preset);
      this.presets = [...this.presets.filter((other) => other.preset_id !== saved.preset_id), saved];
      this.said = m.plan_preset_saved({ name: saved.name });
      return '';
    } catch (error) {
      return errorText(error);
    }
  }

  /** Presets that fit this plan, then all others. */
  readonly fitting = $derived.by<Preset[]>(() => this.history?.presets ?? []);
  readonly others = $derived.by<Preset[]>(() => this.presets.filter((one) => !this.fitting.some(({ preset_id: id }) => id === one.preset_id)));

  /** Whether every task can run as it stands. Of one that cannot, the field at fault opens, with the keyboard in it. */
  check(): boolean {
    this.#tried = this.canModify;
    const { lack } = this.editing;
    if (!this.lack || !lack) return !this.lack;
    this.editing.edit(lack.id);
    void tick().then(() => document.getElementById(fieldId(this.opened.id, lack))?.focus());
    return false;
  }

  async confirm(): Promise<boolean> {
    return this.check() && this.#respond('confirm');
  }

  cancel(reason: string): Promise<boolean> {
    return this.#respond('cancel', reason);
  }

  /** Sends what was changed; what cannot run as it stands is shown instead. */
  async send(): Promise<boolean> {
    if (!this.check()) return false;
    this.editing.keep();
    return this.#respond('modify');
  }

  async #respond(action: PlanAction, reason = this.words): Promise<boolean> {
    const op = this.opened.op;
    if (!op) return false;
    const moved = movedOf(this.editing.changes);
    const response: PlanResponse = {
      action,
      digest: op.digest,
      ...(action === 'modify' && this.editing.changed && { modified_tasks: sendable(this.editing.tasks, this.old), ...(moved.length && { moved }) }),
      ...(reason && { user_message: reason }),
      ...(action !== 'cancel' && this.opened.draft.form.task_by_task && { task_by_task: true }),
    };
    // A draft that is saved after the answer would only confuse: the answer goes first.
    this.opened.draft.pause();
    const done = await this.opened.app.answering.respond(op, response);
    // A vote among several is not the end: what it was made of stays on the table.
    if (done && this.opened.op && ended(this.opened.op)) this.opened.draft.sent();
    else void this.opened.draft.save();
    return done;
  }

  #says(): Say[] {
    const question = this.question;
    const op = this.opened.op;
    if (!question || !op || !this.together) return [];
    const me = this.opened.app.operator;
    const all: Say[] = (op.votes ?? []).map(({ by, at, answer }) => {
      const tasks = answer.plan?.tasks?.map((task, i) => ({ ...task, id: task.id ?? `t${i + 1}` }));
      return {
        name: by.name ?? '', mine: by.name === me, at, action: answer.plan?.action ?? 'confirm', tasks, words: answer.human_input,
        changes: answer.plan?.changes ?? [], same: sameTasks(tasks ?? this.old, this.editing.tasks),
      };
    });
    for (const name of question.operators ?? []) if (!all.some((say) => say.name === name)) all.push({ name, mine: name === me, changes: [], same: false });
    if (!all.some((say) => say.mine)) all.push({ name: me, mine: true, changes: [], same: false });
    return all;
  }

  /** How many say the same, at most, and how many have to. */
  readonly counted = $derived.by<{ n: number; all: number }>(() => {
    const all = Math.max(this.question?.confirmations ?? 1, this.question?.operators?.length ?? 0);
    const keys = (this.opened.op?.votes ?? []).map(({ answer: { plan } }) => JSON.stringify([plan?.action, plan?.task_by_task ?? false, plan?.tasks ?? null]));
    return { n: Math.max(0, ...keys.map((key) => keys.filter((other) => other === key).length)), all };
  });

  /** How many operators there are, where more have to agree than that. */
  readonly short = $derived.by<number | undefined>(() => {
    const known = this.opened.op?.operators_known;
    return known !== undefined && known < this.counted.all ? known : undefined;
  });

  /** What can be done, as commands. What is dangerous has no key of one stroke. */
  commands(): Command[] {
    const ready = (): boolean => this.opened.ready;
    const edits = (): boolean => this.#open() && this.canModify;
    const writing = (): boolean => typing(document.activeElement);
    const confirm = { label: () => this.confirmWord, group: 'answer' as const, when: () => ready() && !this.opened.barred && !this.editing.changed && !this.words, run: () => void this.confirm() };
    const here = (): boolean => edits() && !!this.editing.find(this.at) && !this.editing.open;
    const many = (): boolean => edits() && !this.single;
    return [
      this.opened.op && dangerous(this.opened.op) ? { ...confirm, id: 'confirm-risky', keys: ['Mod+Shift+a'], risky: () => true } : { ...confirm, id: 'confirm', keys: ['a'] },
      { ...confirm, id: 'confirm-note', label: () => (this.single ? m.plan_confirm_task_note() : m.plan_confirm_note()), keys: [], risky: () => !!this.opened.op && dangerous(this.opened.op), when: () => ready() && !this.opened.barred && !this.editing.changed && !!this.words },
      {
        id: 'send', label: () => (this.editing.changed ? m.plan_send({ n: this.count }) : this.words ? (this.single ? m.plan_send_stop() : m.plan_send_words()) : m.plan_send_none()), keys: ['Mod+Enter'], group: 'answer',
        when: () => ready() && this.canModify && (this.editing.changed || this.editing.lack ? !this.opened.barred : !!this.words), run: () => void this.send(),
      },
      { id: 'cancel-plan', label: () => (this.single ? m.plan_skip() : m.plan_cancel()), keys: ['d'], group: 'answer', when: ready, run: () => this.opened.app.dialogs.draw(cancelDialog, { id: this.opened.id }) },
      { id: 'undo', label: m.plan_undo, keys: ['Mod+z'], group: 'move', when: () => edits() && this.editing.canUndo && !writing(), run: () => this.undo() },
      { id: 'redo', label: m.plan_redo, keys: mac ? ['Mod+Shift+z'] : ['Mod+Shift+z', 'Mod+y'], group: 'move', when: () => edits() && this.editing.canRedo && !writing(), run: () => this.redo() },
      { id: 'add-task', label: m.plan_add, keys: ['n'], group: 'answer', when: many, run: () => this.addEmpty() },
      { id: 'task-up', label: m.plan_move_up, keys: ['Alt+ArrowUp'], group: 'move', when: () => many() && here(), run: () => this.move(this.at, this.editing.placeOf(this.at) - 1) },
      { id: 'task-down', label: m.plan_move_down, keys: ['Alt+ArrowDown'], group: 'move', when: () => many() && here(), run: () => this.move(this.at, this.editing.placeOf(this.at) + 1) },
      { id: 'task-remove', label: m.plan_remove, keys: ['Delete'], group: 'answer', when: () => many() && here(), run: () => this.remove(this.at) },
    ];
  }

  readonly confirmWord = $derived.by<string>(() => (this.editing.changed ? m.plan_confirm_as_was() : this.single ? m.plan_confirm_task() : m.plan_confirm()));

  #open(): boolean {
    const op = this.opened.op;
    return !!op && !ended(op) && this.opened.mine;
  }
}

/** The id of the element that has the keyboard for a task. */
export const rowId = (operation: string, task: string): string => `${operation} ${task}`;

/** The id of the field in which something is at fault. */
export const fieldId = (operation: string, { id, why }: { id: string; why: 'empty' | 'args' }): string => `${rowId(operation, id)} ${why}`;

/** Whether a plan can be confirmed where only its card is seen: it is mild, one operator does, and nothing was changed. */
export function easy(op: Operation, plan: Plan): boolean {
  return !!plan.question && plan.question.options.includes('confirm') && !dangerous(op) && !plan.grave && !plan.together && !plan.editing.changed && !plan.editing.lack && !plan.words;
}

/** Whether a command has its place on the card of a plan: nothing is changed there, and only what is easy confirmed. */
export function onCard(command: string, op: Operation, plan: Plan): boolean {
  return command === 'confirm' ? easy(op, plan) : !/^(confirm-risky|confirm-note|send|undo|redo|add-task|task-.*)$/.test(command);
}
