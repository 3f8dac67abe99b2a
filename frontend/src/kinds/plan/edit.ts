import { isObject } from '../../lib/details';
import type { Listed } from './diff';
import type { PlanQuestion, Task, TasksSummary } from '../../lib/planwire';
import type { Json, JsonObject, Operation } from '../../lib/wire';

/** Before the id of a task that was made here. The server gives it another. */
const made = 'new-';

/** An id that no task of the list has. */
export function freshId(tasks: readonly Listed[]): string {
  const taken = new Set(tasks.map(({ id }) => id));
  let n = 1;
  while (taken.has(made + n)) n++;
  return made + n;
}

/** The list as it is sent: what was made here has no id yet. */
export function sendable(tasks: readonly Listed[], old: readonly Listed[]): Task[] {
  const known = new Set(old.map(({ id }) => id));
  return tasks.map(({ id, ...task }) => ({ ...(known.has(id) || !id.startsWith(made) ? { id } : {}), ...task, description: task.description.trim() }));
}

/** The name of a draft's field that keeps what was typed for a task's arguments while it is no JSON. */
export const unsaid = (id: string): string => `args of ${id}`;

/** Arguments that were typed; undefined for none, null for what is no JSON object. */
export function argsOf(text: string): JsonObject | undefined | null {
  if (!text.trim()) return undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

/** What joins two things that a task does, in the languages the page speaks. */
const joints = /\s*(?:;|；|。|\.\s|，\s*(?:然后|接着|再|并)|,?\s+(?:and\s+)?then\s|,\s+and\s|\s+and\s)\s*/giu;

/** A task's words as those of two: parted at the joint nearest the middle, or all in the first where there is none. */
export function halves(description: string): [string, string] {
  const middle = description.length / 2;
  let best: RegExpExecArray | undefined;
  for (const joint of description.matchAll(joints)) {
    const end = joint.index + joint[0].length;
    if (joint.index === 0 || end >= description.length) continue;
    if (!best || Math.abs(joint.index - middle) < Math.abs(best.index - middle)) best = joint;
  }
  if (!best) return [description, ''];
  const rest = description.slice(best.index + best[0].length).trim();
  return [description.slice(0, best.index).trim(), rest.charAt(0).toUpperCase() + rest.slice(1)];
}

/** A task like another. */
export function duplicate({ id: _id, ...task }: Listed): Task {
  return task;
}

/** The place from 1 to which a dragged row goes: how many of the others it has passed with its middle. */
export function dropPlace(middle: number, others: readonly { top: number; height: number }[]): number {
  return others.filter(({ top, height }) => middle > top + height / 2).length + 1;
}

/** What an operation of kind plan asks, once its details are here. Lists that hold nothing may come as null. */
export function planOf(op: Operation | undefined): (PlanQuestion & { tasks: Listed[] }) | undefined {
  const details = op?.action_type === 'plan' ? op.details : undefined;
  if (!details || !Array.isArray(details.tasks)) return undefined;
  const question = details as unknown as PlanQuestion;
  const summary: TasksSummary = { ...question.tasks_summary, tasks: question.tasks_summary?.tasks ?? [] };
  const tasks = question.tasks.map((task, i) => ({ ...task, id: task.id ?? `t${i + 1}` }));
  return { ...question, tasks, tasks_summary: summary, options: question.options ?? [], operators: question.operators ?? [], confirmations: Math.max(1, question.confirmations ?? 1) };
}

/** Whether more than one operator has a say. */
export const together = (question: Pick<PlanQuestion, 'confirmations' | 'operators'>): boolean => question.confirmations > 1 || (question.operators?.length ?? 0) > 0;

/** Whether two tasks would be the same to a person: of a preset, one is enough. */
export const alike = (a: Task, b: Task): boolean => a.description.trim().toLowerCase() === b.description.trim().toLowerCase() && (a.tool_name ?? '') === (b.tool_name ?? '');
