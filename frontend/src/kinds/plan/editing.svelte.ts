import { compare, rowsOf, sameTasks, type Listed, type PlanRow } from './diff';
import { argsOf, duplicate, freshId, halves, unsaid } from './edit';
import type { ChangeKind, Task, TaskChange } from '../../lib/planwire';
import type { Draft } from '../../state/draft.svelte';

/** How many steps can be undone. */
const most = 200;

/**
 * The list of tasks an operator changes. Each change is in the draft at once, so that nothing is lost; one that is typed
 * is one step to undo from the first key to the last.
 */
export class PlanEditing {
  /** The id of the task that is open for editing. */
  open = $state('');
  #past = $state.raw<Listed[][]>([]);
  #future = $state.raw<Listed[][]>([]);
  /** The list as it was when the open task was opened; its step is made at the first key. */
  #before: Listed[] = [];
  #stepped = false;
  /** Ids of the tasks that were moved by hand. */
  #carried = $state.raw<ReadonlySet<string>>(new Set());

  readonly tasks = $derived.by<Listed[]>(() => {
    const changed = this.draft.form.tasks;
    return changed ? ($state.snapshot(changed) as Listed[]) : this.old();
  });
  readonly changes = $derived.by<TaskChange[]>(() => compare(this.old(), this.tasks, this.#carried));
  readonly rows = $derived.by<PlanRow[]>(() => rowsOf(this.old(), this.tasks, this.changes));
  readonly changed = $derived.by<boolean>(() => this.changes.length > 0);
  readonly canUndo = $derived.by<boolean>(() => this.#past.length > 0);
  readonly canRedo = $derived.by<boolean>(() => this.#future.length > 0);
  /** The first task that cannot run as it stands, and why not. */
  readonly lack = $derived.by<{ id: string; why: 'empty' | 'args' } | undefined>(() => {
    for (const { id, description } of this.tasks) {
      if (!description.trim()) return { id, why: 'empty' };
      if (this.argsTrouble(id)) return { id, why: 'args' };
    }
    return undefined;
  });

  constructor(
    private readonly draft: Draft,
    /** The tasks as the agent sent them. */
    private readonly old: () => Listed[],
  ) {}

  count(kind: ChangeKind): number {
    return this.changes.filter(({ change }) => change === kind).length;
  }

  find(id: string): Listed | undefined {
    return this.tasks.find((task) => task.id === id);
  }

  placeOf(id: string): number {
    return this.tasks.findIndex((task) => task.id === id) + 1;
  }

  /** Opens a task for editing; what is open is kept. */
  edit(id: string): void {
    if (this.open === id) return;
    this.keep();
    if (!this.find(id)) return;
    this.open = id;
    this.#before = this.tasks;
    this.#stepped = false;
  }

  /** Writes what is typed into the open task. */
  write(patch: Partial<Task>): void {
    const id = this.open;
    if (!this.find(id)) return;
    if (!this.#stepped) this.#step(this.#before);
    this.#stepped = true;
    this.#write(this.tasks.map((task) => (task.id === id ? tidy({ ...task, ...patch }) : task)));
  }

  /** The arguments as they are typed. What is no JSON object is kept as it is, and does not count yet. */
  writeArgs(text: string): void {
    const id = this.open;
    const args = argsOf(text);
    if (args === null) {
      this.draft.form.fields[unsaid(id)] = text;
      this.draft.touch();
      return;
    }
    this.#say(id);
    this.write({ args });
  }

  /** What was typed for the arguments of a task and is no JSON object; '' without. */
  argsTrouble(id: string): string {
    return this.draft.form.fields[unsaid(id)] ?? '';
  }

  /** Closes the open task with what was typed. */
  keep(): void {
    this.open = '';
  }

  /** Closes the open task and takes back what was typed since it was opened; a task that was added for it goes. */
  putBack(): void {
    const id = this.open;
    this.open = '';
    this.#say(id);
    if (!this.#stepped) return;
    this.#stepped = false;
    this.#write(this.#past.at(-1) ?? this.#before);
    this.#past = this.#past.slice(0, -1);
  }

  /** Adds tasks at a place, from 1, or at the end. Returns their ids. */
  add(tasks: Task[], place = this.tasks.length + 1): string[] {
    if (!tasks.length) return [];
    this.keep();
    this.#step(this.tasks);
    const list = this.tasks.slice();
    const ids: string[] = [];
    tasks.forEach((task, i) => {
      const id = freshId([...this.old(), ...list]);
      ids.push(id);
      list.splice(place - 1 + i, 0, tidy({ ...task, id }));
    });
    this.#write(list);
    return ids;
  }

  /** Adds an empty task and opens it: put back, it goes again. */
  addEmpty(place?: number): string {
    this.keep();
    const before = this.tasks;
    const [id = ''] = this.add([{ description: '' }], place);
    this.open = id;
    this.#before = before;
    this.#stepped = true;
    return id;
  }

  remove(id: string): void {
    if (!this.find(id)) return;
    if (this.open === id) this.keep();
    this.#step(this.tasks);
    this.#say(id);
    this.#write(this.tasks.filter((task) => task.id !== id));
  }

  /** Makes a task what it was: one that was taken out is in its place again. */
  restore(id: string): void {
    const old = this.old();
    const at = old.findIndex((task) => task.id === id);
    const was = old[at];
    if (!was) return;
    if (this.open === id) this.keep();
    this.#step(this.tasks);
    this.#say(id);
    if (this.find(id)) {
      this.#write(this.tasks.map((task) => (task.id === id ? was : task)));
      return;
    }
    const before = old.slice(0, at).findLast((task) => this.find(task.id));
    const list = this.tasks.slice();
    list.splice(before ? this.placeOf(before.id) : 0, 0, was);
    this.#write(list);
  }

  /** Moves a task to a place, from 1. Returns where it is then. */
  move(id: string, place: number): number {
    const from = this.placeOf(id);
    const to = Math.max(1, Math.min(this.tasks.length, place));
    const task = this.find(id);
    if (!task || from === to) return from;
    this.#step(this.tasks);
    this.#carried = new Set([...this.#carried, id]);
    const list = this.tasks.filter((other) => other.id !== id);
    list.splice(to - 1, 0, task);
    this.#write(list);
    return to;
  }

  /** Makes two tasks of one; the second is open for editing. Returns its id. */
  split(id: string): string {
    const task = this.find(id);
    if (!task) return '';
    this.keep();
    const before = this.tasks;
    this.#step(before);
    const [first, second] = halves(task.description);
    const fresh = freshId([...this.old(), ...before]);
    const { tool_name, type, priority } = task;
    const list = before.flatMap((one) => (one.id === id ? [{ ...one, description: first }, tidy({ id: fresh, description: second, tool_name, type, priority })] : [one]));
    this.#write(list);
    this.open = fresh;
    this.#before = before;
    this.#stepped = true;
    return fresh;
  }

  duplicate(id: string): string {
    const task = this.find(id);
    return task ? (this.add([duplicate(task)], this.placeOf(id) + 1)[0] ?? '') : '';
  }

  /** Takes over a whole list, with the tasks that count as moved in it. */
  take(tasks: readonly Task[], moved: readonly string[] = []): void {
    this.keep();
    this.#carried = new Set(moved);
    this.#step(this.tasks);
    const list: Listed[] = [];
    for (const task of tasks) list.push({ ...task, id: task.id ?? freshId([...this.old(), ...list]) });
    this.#write(list);
  }

  /** All as the agent sent it. It can be undone. */
  reset(): void {
    for (const { id } of this.tasks) this.#say(id);
    if (this.changed) this.take(this.old());
  }

  undo(): void {
    const step = this.#past.at(-1);
    if (!step) return;
    this.keep();
    this.#past = this.#past.slice(0, -1);
    this.#future = [...this.#future, this.tasks];
    this.#write(step);
  }

  redo(): void {
    const step = this.#future.at(-1);
    if (!step) return;
    this.keep();
    this.#future = this.#future.slice(0, -1);
    this.#past = [...this.#past, this.tasks];
    this.#write(step);
  }

  #step(tasks: Listed[]): void {
    this.#past = [...this.#past, tasks].slice(-most);
    this.#future = [];
  }

  #write(tasks: Listed[]): void {
    this.draft.form.tasks = sameTasks(tasks, this.old()) ? null : tasks;
    this.draft.touch();
  }

  #say(id: string): void {
    const { [unsaid(id)]: text, ...rest } = this.draft.form.fields;
    if (text !== undefined) this.draft.form.fields = rest;
  }
}

/** A task without the fields that are empty: they are absent on the wire. */
function tidy(task: Listed): Listed {
  const { id, description, ...rest } = task;
  return { id, description, ...Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined && value !== '' && value !== 0)) };
}
