import type { FieldChange, Task, TaskChange } from '../../lib/planwire';
import type { Json } from '../../lib/wire';

/** A task in a list: it has an id. */
export type Listed = Task & { id: string };

/** Nearly always they are alike to the letter, and that is quick to see. */
const same = (a: Json | undefined, b: Json | undefined): boolean => a === b || JSON.stringify(a) === JSON.stringify(b) || canonical(a) === canonical(b);

/** JSON in which equal values read equal, whatever the order of their names. */
function canonical(value: Json | undefined): string {
  return JSON.stringify(value, (_, inner: unknown) =>
    inner && typeof inner === 'object' && !Array.isArray(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  ) ?? '';
}

const text = (value: Json | undefined): string => (value === undefined ? '' : JSON.stringify(value));

/** What differs between two tasks, whatever their ids. */
export function fieldsOf(a: Task, b: Task): FieldChange[] {
  const all: FieldChange[] = [
    { field: 'description', was: a.description, is: b.description },
    { field: 'tool_name', was: a.tool_name ?? '', is: b.tool_name ?? '' },
    { field: 'type', was: a.type ?? '', is: b.type ?? '' },
    { field: 'priority', was: String(a.priority ?? 0), is: String(b.priority ?? 0) },
    { field: 'expected_outcome', was: a.expected_outcome ?? '', is: b.expected_outcome ?? '' },
  ];
  const found = all.filter(({ was, is }) => was !== is);
  return same(a.args, b.args) ? found : [...found, { field: 'args', was: text(a.args), is: text(b.args) }];
}

/** Whether two lists have the same tasks in the same order. */
export const sameTasks = (a: readonly Listed[], b: readonly Listed[]): boolean => a.length === b.length && a.every((task, i) => task.id === b[i]?.id && !fieldsOf(task, b[i]).length);

/** Less than one task counts, however many there are. */
const little = 1 / 4096;

/**
 * The members of a longest subsequence of list in which value increases: of several, one with few that are heavy; of
 * these, the one that ends first, and so on backwards.
 */
function longest(list: readonly number[], value: (one: number) => number, heavy: (one: number) => boolean): Set<number> {
  const length: number[] = [];
  const before: number[] = [];
  let end = -1;
  list.forEach((one, i) => {
    const weight = heavy(one) ? 1 - little : 1;
    length[i] = weight;
    before[i] = -1;
    for (let j = 0; j < i; j++) {
      if (value(list[j] ?? 0) < value(one) && (length[j] ?? 0) + weight > (length[i] ?? 0)) [length[i], before[i]] = [(length[j] ?? 0) + weight, j];
    }
    if (end < 0 || (length[i] ?? 0) > (length[end] ?? 0)) end = i;
  });
  const members = new Set<number>();
  for (; end >= 0; end = before[end] ?? -1) members.add(list[end] ?? 0);
  return members;
}

/**
 * What a list of tasks became, by their ids: first what is in the new list, in its order, then what is no longer there,
 * in the old one's. As few tasks as can be count as moved. The server compares in the same way. Where one of two was
 * moved past the other, `carried` says which a person took hold of; without, it is the later.
 */
export function compare(old: readonly Listed[], now: readonly Listed[], carried?: ReadonlySet<string>): TaskChange[] {
  const was = new Map(old.map((task, i) => [task.id, i]));
  const place = (i: number): number => was.get(now[i]?.id ?? '') ?? 0;
  const still = longest(now.flatMap((task, i) => (was.has(task.id) ? [i] : [])), place, (i) => !!carried?.has(now[i]?.id ?? ''));
  const changes: TaskChange[] = [];
  now.forEach((task, i) => {
    const { id, description } = task;
    const from = was.get(id);
    const before = from === undefined ? undefined : old[from];
    if (from === undefined || !before) {
      changes.push({ change: 'added', id, description, to: i + 1 });
      return;
    }
    const at = { id, description, from: from + 1, to: i + 1 };
    const fields = fieldsOf(before, task);
    if (fields.length) changes.push({ change: 'changed', ...at, fields });
    if (!still.has(i)) changes.push({ change: 'moved', ...at });
  });
  const there = new Set(now.map(({ id }) => id));
  old.forEach(({ id, description }, i) => {
    if (!there.has(id)) changes.push({ change: 'removed', id, description, from: i + 1 });
  });
  return changes;
}

/** A line of the editor: a task that would run, or one that was taken out, where it was. */
export interface PlanRow {
  task: Listed;
  /** From 1; 0 of one that was taken out. */
  place: number;
  /** As the agent sent it; absent of one that was added. */
  was?: Listed;
  /** Which fields of it are not as they were. */
  fields: FieldChange[];
  /** Which way it went; 'on' where others went past it. */
  moved: '' | 'up' | 'down' | 'on';
}

/** The tasks that count as moved. Compared again with these as carried, the same ones count. */
export const movedOf = (changes: readonly TaskChange[]): string[] => changes.filter(({ change }) => change === 'moved').map(({ id }) => id);

/** What the editor draws: the new list, with what was taken out behind the task that it stood behind. */
export function rowsOf(old: readonly Listed[], now: readonly Listed[], changes: readonly TaskChange[] = compare(old, now)): PlanRow[] {
  const was = new Map(old.map((task) => [task.id, task]));
  const moved = new Map<string, PlanRow['moved']>();
  for (const change of changes) {
    const { from = 0, to = 0 } = change;
    if (change.change === 'moved') moved.set(change.id, to < from ? 'up' : to > from ? 'down' : 'on');
  }
  const rows: PlanRow[] = now.map((task, i) => {
    const before = was.get(task.id);
    return { task, place: i + 1, was: before, fields: before ? fieldsOf(before, task) : [], moved: moved.get(task.id) ?? '' };
  });
  const there = new Set(now.map(({ id }) => id));
  let behind = '';
  for (const task of old) {
    if (!there.has(task.id)) rows.splice(rows.findIndex((row) => row.task.id === behind) + 1, 0, { task, place: 0, was: task, fields: [], moved: '' });
    behind = task.id;
  }
  return rows;
}
