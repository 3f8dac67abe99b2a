import type { GivenOrder, PlanOutcome, PlanQuestion, PlanRun, PlanStatus, Task, TaskChange, TaskRun, TaskSummary, TasksSummary } from '../../lib/planwire';
import { underWay } from '../../lib/life';
import { between, byTime } from '../../lib/time';
import type { Operation, Presence } from '../../lib/wire';

/** Where a plan stands, as its server has it. A plan that its agent withdrew, or an operator declined, is cancelled. */
export function statusOf(op: Operation): PlanStatus {
  if (op.state === 'cancelled' || op.state === 'declined') return op.overdue && op.ended?.by.role === 'system' ? 'timeout' : 'cancelled';
  if (op.state !== 'completed') return 'pending';
  const action = op.result?.plan?.action ?? (op.result?.decision === 'approve' ? 'confirm' : 'cancel');
  return action === 'confirm' ? 'confirmed' : action === 'modify' ? 'modified' : 'cancelled';
}

/** How a plan ended, as people are told: apart from plans that were changed, those that words sent back. */
export function outcomeOf(op: Operation): PlanOutcome {
  const status = statusOf(op);
  return status === 'modified' && !op.result?.plan?.tasks?.length ? 'sent_back' : status;
}

/** What a plan asked for; null until the operation's details are here. */
export function questionOfPlan(op: Operation): PlanQuestion | null {
  const details = op.action_type === 'plan' ? (op.details as unknown as PlanQuestion | undefined) : undefined;
  return details && Array.isArray(details.tasks) ? details : null;
}

/** The place of a task in a run, from 1; 0 where it has none. */
export function placeOf(run: PlanRun | undefined, task: string): number {
  return (run?.tasks.findIndex(({ id }) => id === task) ?? -1) + 1;
}

export interface Tally {
  all: number;
  waiting: number;
  running: number;
  done: number;
  failed: number;
  skipped: number;
  /** Done, failed or skipped. */
  over: number;
}

export function tally(run: PlanRun): Tally {
  const of = { waiting: 0, running: 0, done: 0, failed: 0, skipped: 0 };
  for (const task of run.tasks) of[task.state] += 1;
  return { ...of, all: run.tasks.length, over: of.done + of.failed + of.skipped };
}

/** What is known of the tasks of a run, by their ids: how long they usually take, how risky they are. */
export function known(summaries: readonly (TasksSummary | undefined)[]): Map<string, TaskSummary> {
  return new Map(summaries.flatMap((summary) => summary?.tasks ?? []).map((task) => [task.id, task]));
}

/** How long a task has run or ran, in milliseconds; 0 before it began. */
export function took(task: TaskRun, now: number): number {
  return task.began_at ? Math.max(0, between(task.began_at, task.ended_at ?? now)) : 0;
}

export interface Left {
  /** Milliseconds, of the tasks that history knows. */
  ms: number;
  /** How many tasks are still to come or run, that history does not know. */
  unknown: number;
}

/** How long a run will still take. A task that runs longer than usual counts as all but done. */
export function left(run: PlanRun, about: ReadonlyMap<string, TaskSummary>, now: number): Left {
  const of: Left = { ms: 0, unknown: 0 };
  for (const task of run.tasks) {
    if (task.state !== 'waiting' && task.state !== 'running') continue;
    const usual = about.get(task.id ?? '')?.estimated_seconds;
    if (usual) of.ms += Math.max(0, usual * 1000 - took(task, now));
    else of.unknown += 1;
  }
  return of;
}

/** When a run began and, where it is over, ended; as far as its tasks tell. */
export function spanOf(run: PlanRun): { began?: string; ended?: string } {
  const began = run.tasks.flatMap((task) => task.began_at ?? []).sort(byTime)[0];
  const over = run.state === 'stopped' || run.state === 'finished';
  const stop = run.orders.findLast((order) => order.order === 'stop')?.at;
  const ended = [...run.tasks.flatMap((task) => task.ended_at ?? []), ...(stop ? [stop] : [])].sort(byTime).at(-1);
  return { began, ended: over ? ended : undefined };
}

/** Without a task under way an agent says what it does next at once; this long is silence. In milliseconds. */
const quick = 60_000;
/** While a task runs, an agent has nothing to say: it is missed after three times the usual, at the least this long. */
const slow = 600_000;

/** Since when an agent has said nothing of a plan that runs, where that is too long; null while all is well. */
export function silentSince(op: Operation, presence: Presence | undefined, about: ReadonlyMap<string, TaskSummary>, now: number): string | null {
  const run = op.run;
  if (!run || !underWay(op) || presence?.waiting) return null;
  const heard = [op.result?.at, presence?.last_contact, ...run.tasks.flatMap((task) => [task.began_at, task.ended_at])].flatMap((at) => at ?? []);
  const last = heard.reduce((a, b) => (Date.parse(b) > Date.parse(a) ? b : a), op.created_at);
  const busy = run.tasks.filter((task) => task.state === 'running');
  const patience = busy.length ? Math.max(slow, ...busy.map((task) => (about.get(task.id ?? '')?.estimated_seconds ?? 0) * 3000)) : quick;
  return now - Date.parse(last) > patience ? last : null;
}

/** The tasks that can still be changed, without what only a run says of them. */
export function changeable(run: PlanRun): Task[] {
  return run.tasks.filter((task) => task.state === 'waiting').map(bare);
}

/** The tasks that have begun or ended: what is to be changed follows them. */
export function begun(run: PlanRun): TaskRun[] {
  return run.tasks.filter((task) => task.state !== 'waiting');
}

function bare({ id, description, tool_name, type, priority, expected_outcome, args }: Task): Task {
  const task: Task = { id, description, tool_name, type, priority, expected_outcome, args };
  return Object.fromEntries(Object.entries(task).filter(([, value]) => value !== undefined)) as unknown as Task;
}

/** The changes of an answer, the weightiest first: what was added, what was taken out, what was reworded, what was moved. */
export function weighty(changes: readonly TaskChange[]): TaskChange[] {
  const order = { added: 0, removed: 1, changed: 2, moved: 3 };
  return changes.toSorted((a, b) => order[a.change] - order[b.change] || (a.to ?? a.from ?? 0) - (b.to ?? b.from ?? 0));
}

/** The orders with content: a text or changes. */
export function withContent(orders: readonly GivenOrder[]): GivenOrder[] {
  return orders.filter((order) => order.text || order.order === 'change');
}
