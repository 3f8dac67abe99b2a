import { call, search, type Connection } from './http';
import type { AgentAnswer, AgentRun, DeclaredAgent, RunPlan, RunTask, RunUpdate, RunUpdates } from '../lib/wire';

/** The journals of runs, or of conversations. Each call throws a Problem and nothing else. */
class Journals {
  constructor(
    protected readonly to: Connection,
    private readonly path: string,
  ) {}

  /** The latest of them, the newest first. */
  async list(limit = 50): Promise<AgentRun[]> {
    return (await call<{ runs: AgentRun[] | null }>(this.to, 'GET', this.path + search({ limit }))).runs ?? [];
  }

  /** One, and what it told after the first `after` updates; where there is nothing, waits for more, so many seconds at most. */
  async read(id: string, after: number, wait: number): Promise<RunUpdates> {
    const all = await call<Omit<RunUpdates, 'updates'> & { updates: RunUpdate[] | null }>(this.to, 'GET', this.of(id) + search({ after, wait }));
    return { ...all, updates: (all.updates ?? []).map((update) => ({ ...update, plan: update.plan && wholePlan(update.plan) })) };
  }

  /** Stops what it is at; it can be continued. */
  stop(id: string): Promise<void> {
    return call(this.to, 'POST', this.of(id, '/stop'), {});
  }

  protected of(id: string, what = ''): string {
    return `${this.path}/${encodeURIComponent(id)}${what}`;
  }
}

/** Runs of agents. */
export class RunsApi extends Journals {
  constructor(to: Connection) {
    super(to, '/api/agent/runs');
  }

  /** Has an agent do a task, and returns the id of the run. */
  async start(task: RunTask): Promise<string> {
    return (await call<{ run_id: string }>(this.to, 'POST', '/api/agent/runs', task)).run_id;
  }

  resume(id: string): Promise<void> {
    return call(this.to, 'POST', this.of(id, '/resume'), {});
  }
}

/** Conversations with agents. */
export class ChatsApi extends Journals {
  constructor(to: Connection) {
    super(to, '/api/agent/conversations');
  }

  /** The agents that there are. */
  async agents(): Promise<DeclaredAgent[]> {
    return (await call<{ agents: DeclaredAgent[] | null }>(this.to, 'GET', '/api/agent')).agents ?? [];
  }

  /**
   * Has an agent answer a message; of a conversation, or of a new one in a folder. Returns with the answer, however long it takes; with
   * `wait` after so many seconds at the latest, then with the status working. The same message again waits on.
   */
  send(agent: string, message: { message: string; session_id?: string; folder?: string; idempotency_key?: string }, wait?: number): Promise<AgentAnswer> {
    return call(this.to, 'POST', `/api/agent/${encodeURIComponent(agent)}/messages` + search({ wait }), message);
  }
}

/** Lists that hold nothing may come as null. */
const wholePlan = (plan: RunPlan): RunPlan => ({ ...plan, tasks: plan.tasks ?? [], changes: plan.changes ?? [] });
