import { byTime } from '../lib/time';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import { backoff } from '../lib/backoff';
import { chapters, course, died, over, type Chapter, type Course } from '../lib/runs';
import type { AgentRun, DeclaredAgent, Operation, RunUpdate } from '../lib/wire';
import type { Operations } from './operations.svelte';
import { errorText } from './sentences.svelte';

/** Something that is read from the server as a whole. */
class Read<T> {
  all = $state.raw<T[]>([]);
  loaded = $state(false);
  trouble = $state('');
  /** This Deskbell runs without agents of its own: nothing is said of them. */
  missing = $state(false);

  constructor(private readonly read: () => Promise<T[]>) {}

  async load(): Promise<void> {
    try {
      this.all = await this.read();
      this.loaded = true;
      this.trouble = '';
      this.missing = false;
    } catch (error) {
      this.missing = error instanceof Problem && error.missing;
      if (!this.missing) this.trouble = errorText(error);
    }
  }
}

/** Runs of agents, or conversations. */
export class RunList extends Read<AgentRun> {
  constructor(of: { list(): Promise<AgentRun[]> }) {
    super(() => of.list());
  }

  /** Reads the list now and every few seconds. Returns the stop. */
  watch(): () => void {
    void this.load();
    const timer = setInterval(() => {
      if (!this.missing) void this.load();
    }, 5000);
    return () => clearInterval(timer);
  }
}

/** The agents that Deskbell runs. */
export class DeclaredAgents extends Read<DeclaredAgent> {
  constructor(api: Api) {
    super(() => api.chats.agents());
  }
}

/** Seconds for which the server holds a question about more. */
const hold = 25;

/** A run or a conversation, read along as long as somebody looks. */
export abstract class Reading {
  /** Of a conversation that has not begun: ''. */
  id = $state('');
  run = $state.raw<AgentRun | null>(null);
  updates = $state.raw<RunUpdate[]>([]);
  trouble = $state('');
  /** There is none of this id. */
  gone = $state(false);
  /** Its agent's operations, where they are its own. */
  #found = $state.raw<Operation[]>([]);
  #next = 0;
  #round = 0;

  /** What it asked people, the first first. */
  readonly operations = $derived.by<Operation[]>(() => {
    const all = new Map(this.#found.map((op) => [op.operation_id, op]));
    for (const op of this.known.all.values()) if (this.id && op.session_id === this.id) all.set(op.operation_id, op);
    return [...all.values()].sort((a, b) => byTime(a.created_at, b.created_at));
  });

  constructor(
    protected readonly api: Api,
    private readonly known: Operations,
    id: string,
    private readonly pause: (ms: number) => Promise<void> = (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  ) {
    this.id = id;
  }

  /** Where its journal is read, and it is stopped. */
  protected abstract readonly at: { read: Api['runs']['read']; stop: Api['runs']['stop'] };
  /** Nothing more will come. */
  protected abstract readonly ends: boolean;
  /** It is about to begin: that it is not there yet means nothing. */
  protected get begins(): boolean {
    return false;
  }

  /** Its process came, or went. */
  protected turned(): void {}

  leave(): void {
    this.#round++;
  }

  /** Reads what there is and then along with it, until it has ended or is left. */
  async follow(): Promise<void> {
    let failed = 0;
    const round = ++this.#round;
    while (round === this.#round && !this.gone) {
      try {
        // What there is comes at once; only then is it worth waiting for more, and only while there may be some.
        const { run, updates, next } = await this.at.read(this.id, this.#next, this.run && !this.ends ? hold : 0);
        if (round !== this.#round) return;
        const first = !this.run;
        if (run.alive !== this.run?.alive) this.turned();
        this.run = run;
        if (updates.length) this.updates = [...this.updates, ...updates];
        this.#next = next;
        this.trouble = '';
        failed = 0;
        if (first) void this.#look();
        if (this.ends && !updates.length) return;
      } catch (error) {
        if (round !== this.#round) return;
        const none = error instanceof Problem && (error.status === 404 || error.missing);
        this.gone = none && !this.begins;
        this.trouble = none ? '' : errorText(error);
        await this.pause(none ? 200 : backoff(failed++, Math.random()));
      }
    }
  }

  /** What it asked earlier is in no list that is here. */
  async #look(): Promise<void> {
    try {
      const page = await this.api.operations({ agent_id: this.run?.agent, order: 'newest', limit: 200 });
      this.#found = page.operations.filter((op) => op.session_id === this.id);
    } catch {
      // A run tells of its plans itself; nothing else hangs on it.
    }
  }
}

/** One run. */
export class RunReading extends Reading {
  /** What the run is to do, and has not yet. */
  asked = $state<'stop' | 'resume' | ''>('');
  /** Why it did not. */
  refused = $state('');
  readonly course = $derived.by<Course>(() => course(this.updates));
  readonly chapters = $derived.by<Chapter[]>(() => chapters(this.updates));
  readonly died = $derived.by<boolean>(() => !!this.run && died(this.run));
  readonly over = $derived.by<boolean>(() => !!this.run && over(this.run));

  protected get at(): Api['runs'] {
    return this.api.runs;
  }

  protected get ends(): boolean {
    return this.over;
  }

  protected override turned(): void {
    this.asked = '';
  }

  /** Stops the run; it ends a moment later. */
  stop(): Promise<void> {
    return this.#have('stop');
  }

  resume(): Promise<void> {
    return this.#have('resume');
  }

  async #have(asked: 'stop' | 'resume'): Promise<void> {
    this.asked = asked;
    this.refused = '';
    try {
      await this.api.runs[asked](this.id);
    } catch (error) {
      this.refused = errorText(error);
      this.asked = '';
    }
  }
}
