import type { Api } from '../../backend/api';
import { Problem } from '../../backend/http';
import type { Preset, Task } from '../../lib/planwire';
import { errorText } from '../../state/sentences.svelte';

/** The presets there are. */
export class Presets {
  list = $state.raw<Preset[]>([]);
  loaded = $state(false);
  trouble = $state('');
  /** This Deskbell takes no plans: nothing is said of presets. */
  missing = $state(false);

  constructor(private readonly api: Api) {}

  async load(): Promise<void> {
    try {
      this.list = await this.api.plans.presets();
      this.loaded = true;
      this.trouble = '';
    } catch (error) {
      this.missing = error instanceof Problem && error.missing;
      this.trouble = this.missing ? '' : errorText(error);
    }
  }

  /** Keeps a preset. Returns why it could not be, or ''. */
  put(preset: Preset): Promise<string> {
    return this.#change(() => this.api.plans.putPreset(preset));
  }

  drop(id: string): Promise<string> {
    return this.#change(() => this.api.plans.dropPreset(id));
  }

  async #change(work: () => Promise<unknown>): Promise<string> {
    try {
      await work();
    } catch (error) {
      return errorText(error);
    }
    await this.load();
    return '';
  }
}

/** A preset being written. Its tasks have keys, so that a row stays itself wherever it goes. */
export class PresetForm {
  name = $state('');
  about = $state('');
  rows = $state<{ key: number; task: Task }[]>([]);
  /** What was missing at the last try to save. */
  lack = $state<'' | 'name' | 'task' | 'tasks'>('');
  #keys = 0;

  constructor(readonly of?: Preset) {
    this.name = of?.name ?? '';
    this.about = of?.about ?? '';
    this.rows = (of?.tasks.length ? of.tasks : [{ description: '' }]).map((task) => this.#row(task));
  }

  add(): void {
    this.rows.push(this.#row({ description: '' }));
  }

  remove(key: number): void {
    this.rows = this.rows.filter((row) => row.key !== key);
  }

  /** Moves a task one place up or down; at the end of the list it stays. */
  move(key: number, by: -1 | 1): void {
    const from = this.rows.findIndex((row) => row.key === key);
    const to = from + by;
    const row = this.rows[from];
    if (!row || to < 0 || to >= this.rows.length) return;
    this.rows = this.rows.toSpliced(from, 1).toSpliced(to, 0, row);
  }

  /** What would be saved; null where something is missing, which is then said. */
  preset(): Preset | null {
    const tasks = this.rows.map(({ task }) => tidy($state.snapshot(task) as Task));
    this.lack = !this.name.trim() ? 'name' : !tasks.length ? 'tasks' : tasks.some((task) => !task.description) ? 'task' : '';
    if (this.lack) return null;
    const { preset_id } = this.of ?? {};
    return { ...(preset_id && { preset_id }), name: this.name.trim(), ...(this.about.trim() && { about: this.about.trim() }), tasks };
  }

  #row(task: Task): { key: number; task: Task } {
    return { key: ++this.#keys, task: { ...task } };
  }
}

/** A task without what was left empty. */
function tidy(task: Task): Task {
  const words: Task = { ...task, description: task.description.trim(), expected_outcome: task.expected_outcome?.trim(), tool_name: task.tool_name?.trim() };
  return Object.fromEntries(Object.entries(words).filter(([name, value]) => name === 'description' || (value !== '' && value !== undefined))) as unknown as Task;
}
