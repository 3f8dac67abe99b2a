import { byTime } from '../lib/time';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import { backoff } from '../lib/backoff';
import { chapters, course, died, over, type Chapter, type Course } from '../lib/runs';
import type { AgentRun, Operation, RunUpdate } from '../lib/wire';
import type { Operations } from './operations.svelte';
import { errorText } from './sentences.svelte';

/** The runs of the reference agent on this machine. */
export class RunList {
  runs = $state.raw<AgentRun[]>([]);
  loaded = $state(false);
  trouble = $state('');
  /** This Deskbell runs without the reference agent: nothing is said of it. */
  missing = $state(false);

  constructor(private readonly api: Api) {}

  async load(): Promise<void> {
    try {
      this.runs = await this.api.runs.list();
      this.loaded = true;
      this.trouble = '';
      this.missing = false;
    } catch (error) {
      this.missing = error instanceof Problem && error.missing;
      if (!this.missing) this.trouble = errorText(error);
    }
  }
}

/** Seconds for which the server holds a question about more. */
const hold = 25;

/** One run, read along as long as somebody looks. */
export class RunReading {
  run = $state.raw<AgentRun | null>(null);
  updates = $state.raw<RunUpdate[]>([]);
  trouble = $state('');
  /** There is no such run. */
  gone = $state(false);
  /** Its agent's operations, where they are this run's. */
  #found = $state.raw<Operation[]>([]);
  #next = 0;
  #stopped = false;

  readonly course = $derived.by<Course>(() => course(this.updates));
  readonly chapters = $derived.by<Chapter[]>(() => chapters(this.updates));
  readonly died = $derived.by<boolean>(() => !!this.run && died(this.run));
  readonly over = $derived.by<boolean>(() => !!this.run && over(this.run));
  /** What it asked people, the first first. */
  readonly operations = $derived.by<Operation[]>(() => {
    const all = new Map(this.#found.map((op) => [op.operation_id, op]));
    for (const op of this.known.all.values()) if (op.session_id === this.id) all.set(op.operation_id, op);
    return [...all.values()].sort((a, b) => byTime(a.created_at, b.created_at));
  });

  constructor(
    private readonly api: Api,
    private readonly known: Operations,
    readonly id: string,
    private readonly pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  ) {}

  stop(): void {
    this.#stopped = true;
  }

  /** Reads what there is and then along with the run, until it has ended or is left. */
  async follow(): Promise<void> {
    let failed = 0;
    while (!this.#stopped && !this.gone) {
      try {
        // What there is comes at once; only then is it worth waiting for more, and only while there may be some.
        const { run, updates, next } = await this.api.runs.read(this.id, this.#next, this.run && !this.over ? hold : 0);
        if (this.#stopped) return;
        const first = !this.run;
        this.run = run;
        if (updates.length) this.updates = [...this.updates, ...updates];
        this.#next = next;
        this.trouble = '';
        failed = 0;
        if (first) void this.#look();
        if (over(run) && !updates.length) return;
      } catch (error) {
        if (this.#stopped) return;
        this.gone = error instanceof Problem && (error.status === 404 || error.missing);
        this.trouble = errorText(error);
        await this.pause(backoff(failed++, Math.random()));
      }
    }
  }

  /** What it asked earlier is in no list that is here. */
  async #look(): Promise<void> {
    try {
      const page = await this.api.operations({ agent_id: this.run?.agent, order: 'newest', limit: 200 });
      this.#found = page.operations.filter((op) => op.session_id === this.id);
    } catch {
      // The run tells of its plans itself; nothing else hangs on it.
    }
  }
}
