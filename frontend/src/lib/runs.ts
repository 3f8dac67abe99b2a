import type { AgentRun, PlanStatus, RunEnding, RunOutcome, RunPlan, RunUpdate, Task } from './wire';

/** A run that has come to its end for good. */
export const over = (run: AgentRun): boolean => run.state === 'completed' || run.over;

/** A run whose process has gone, and that can be resumed: it was broken off, or failed by a limit or for want of something. */
export const died = (run: AgentRun): boolean => !run.alive && !over(run);

/** How a run came to its end; undefined while it goes on. Of one whose process has gone without a word: it was interrupted. */
export function endingOf(run: AgentRun): RunEnding | undefined {
  if (run.alive && !over(run)) return undefined;
  return run.ending ?? (run.state === 'completed' ? 'done' : run.state === 'failed' ? 'failed' : 'interrupted');
}

/** How to go on with a run that died. */
export const resumeCommand = (run: AgentRun): string => `deskbell agent resume ${run.run_id}`;

export type StepState = 'waiting' | 'running' | RunOutcome;

export interface RunStep {
  task: Task;
  state: StepState;
  began?: string;
  ended?: string;
  note: string;
}

export interface Course {
  /** The plan that counts: the latest that was told. */
  plan?: RunPlan;
  steps: RunStep[];
  /** Calls of tools, by how they ended. */
  calls: Record<RunOutcome, number>;
  /** The operations by which people were asked about its plans, the first first. */
  operations: string[];
}

/** Whether an update is about a task of the plan as a whole, not about a call that is made for it. */
export const ofTask = (update: RunUpdate): boolean => !!update.task_id && (update.type === 'task_init' || update.type === 'sub_task_result');

/** Whether an update says what came of a call. A task that is one call, and done, tells so only as a task. */
const ofCall = (update: RunUpdate): boolean => !!update.tool && !!update.outcome && (!ofTask(update) || (!!update.call && update.outcome === 'done'));

/** What a run's updates come to: its plan, and how far each task is. */
export function course(updates: readonly RunUpdate[]): Course {
  const of: Course = { steps: [], calls: { done: 0, failed: 0, refused: 0, skipped: 0, asks: 0 }, operations: [] };
  for (const update of updates) {
    const { plan } = update;
    if (plan) {
      // A plan that is changed while it runs is told anew without its operation, and holds tasks that have ended already.
      const same = !plan.operation_id || plan.operation_id === of.plan?.operation_id;
      const before = new Map(same ? of.steps.map((step) => [step.task.id, step]) : []);
      of.steps = plan.tasks.map((task) => ({ state: 'waiting', note: '', ...before.get(task.id), task }));
      of.plan = { ...plan, operation_id: plan.operation_id ?? of.plan?.operation_id };
      if (plan.operation_id && !of.operations.includes(plan.operation_id)) of.operations.push(plan.operation_id);
    }
    if (update.outcome && ofCall(update)) of.calls[update.outcome] += 1;
    const step = of.steps.find(({ task }) => !!task.id && task.id === update.task_id);
    if (!step || !ofTask(update)) continue;
    if (update.type === 'task_init') Object.assign(step, { state: 'running', began: update.at });
    else if (update.outcome) Object.assign(step, { state: update.outcome, ended: update.at, note: update.content });
  }
  return of;
}

/** Whether a plan still waits for people. */
export const pending = (plan: RunPlan | undefined): boolean => (plan?.status as PlanStatus | undefined) === 'pending';

/** Whether an update says that a call was made, and the next what came of it: that says more. */
export const settled = (update: RunUpdate, next: RunUpdate | undefined): boolean => !!update.tool && !update.outcome && !ofTask(update) && !!next?.outcome && next.tool === update.tool && next.call === update.call;

/** A part of the log: what was told of one task, or between tasks. */
export interface Chapter {
  key: string;
  task?: Task;
  updates: RunUpdate[];
}

/** The log of a run, parted by the tasks it works on. */
export function chapters(updates: readonly RunUpdate[]): Chapter[] {
  const list: Chapter[] = [];
  const tasks = new Map<string, Task>();
  updates.forEach((update, i) => {
    if (settled(update, updates[i + 1])) return;
    for (const task of update.plan?.tasks ?? []) tasks.set(task.id ?? '', task);
    const last = list.at(-1);
    const task = update.task_id ? tasks.get(update.task_id) : undefined;
    if (last && last.task?.id === task?.id) last.updates.push(update);
    else list.push({ key: String(i), task, updates: [update] });
  });
  return list;
}
