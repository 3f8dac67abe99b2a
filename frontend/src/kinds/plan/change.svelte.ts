import { emptyForm, type AnswerForm } from '../../lib/answer';
import { sendable } from './edit';
import { movedOf } from './diff';
import { begun, changeable, questionOfPlan } from './run';
import type { PlanQuestion } from '../../lib/planwire';
import type { Operation } from '../../lib/wire';
import type { Command } from '../../state/commands.svelte';
import type { AppState } from '../../state/app.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { Plan } from './plan.svelte';
import type { PlanRunning } from './running.svelte';

/** A draft that is kept nowhere: what is changed in a plan that runs is sent soon, or not at all. */
class Loose {
  form = $state<AnswerForm>(emptyForm());
  touch(): void {}
  save(): Promise<void> {
    return Promise.resolve();
  }
}

/** The commands of the editor that make sense of a plan that runs. */
const kept = new Set(['undo', 'redo', 'add-task', 'task-up', 'task-down', 'task-remove']);

/**
 * The tasks of a plan that have not begun, on the table to be changed. To the editor they are a plan of their own, that
 * is still open.
 */
export class PlanChange {
  readonly plan: Plan;
  /** What the editor works on. */
  readonly table: OpenOperation;
  /** The last task that began while it was being changed. */
  began = $state('');
  readonly #draft = new Loose();
  readonly #op = $derived.by<Operation | undefined>(() => this.#open());

  constructor(
    private readonly app: AppState,
    private readonly running: PlanRunning,
  ) {
    const op = (): Operation | undefined => this.#op;
    const table = { id: running.id, app, draft: this.#draft, ready: true, mine: true, get op() { return op(); } };
    // These are all the parts of an opened operation that the editor asks for.
    this.plan = new Plan(table as unknown as OpenOperation);
    this.table = Object.assign(table, { as: () => this.plan }) as unknown as OpenOperation;
  }

  /** To be called whenever the run has changed: what has begun can be changed no more. */
  settle(): void {
    this.plan.ahead = this.running.run ? begun(this.running.run).length : 0;
    const gone = new Map(this.running.run?.tasks.filter((task) => task.state !== 'waiting').map((task) => [task.id, task.description]));
    const tasks = this.#draft.form.tasks;
    const late = tasks?.find((task) => gone.has(task.id));
    if (!tasks || !late) return;
    this.began = late.description;
    const rest = tasks.filter((task) => !gone.has(task.id));
    this.#draft.form.tasks = rest;
    if (!this.plan.editing.changed) this.#draft.form.tasks = null;
  }

  /** Why the list cannot be sent as it stands; '' where it can. */
  readonly lack = $derived.by<'' | 'none' | 'empty' | 'task'>(() => {
    if (!this.plan.editing.tasks.length) return 'empty';
    if (this.plan.editing.lack) return 'task';
    return this.plan.editing.changed ? '' : 'none';
  });

  /** Sends the list in place of the tasks that wait. Returns whether it was taken. */
  async send(): Promise<boolean> {
    const { editing } = this.plan;
    if (!this.plan.check() || this.lack) return false;
    editing.keep();
    const moved = movedOf(editing.changes);
    return this.running.order({ order: 'change', tasks: sendable(editing.tasks, this.plan.old), ...(moved.length && { moved }) });
  }

  commands(): Command[] {
    return this.plan.commands().filter(({ id }) => kept.has(id));
  }

  #open(): Operation | undefined {
    const { op, run } = this.running;
    const question = op && questionOfPlan(op);
    if (!op || !run || !question) return undefined;
    const rest: PlanQuestion = { ...question, tasks: changeable(run), options: ['modify'], tasks_summary: { ...question.tasks_summary, tasks: [...this.running.about.values()] } };
    return { ...op, state: 'in_progress', result: undefined, votes: undefined, draft: undefined, details: rest as unknown as Operation['details'] };
  }
}
