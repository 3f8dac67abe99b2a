import { call, search, type Connection } from './http';
import type { AgentRun, RunPlan, RunUpdate, RunUpdates } from '../lib/wire';

/** The calls about runs of the reference agent. Each throws a Problem and nothing else. */
export class RunsApi {
  constructor(private readonly to: Connection) {}

  /** The newest runs, the newest first. */
  async list(limit = 50): Promise<AgentRun[]> {
    return (await call<{ runs: AgentRun[] | null }>(this.to, 'GET', '/api/agent/runs' + search({ limit }))).runs ?? [];
  }

  /** A run and what it told after the first `after` updates; where there is nothing, waits for more, so many seconds at most. */
  async read(id: string, after: number, wait: number): Promise<RunUpdates> {
    const all = await call<Omit<RunUpdates, 'updates'> & { updates: RunUpdate[] | null }>(this.to, 'GET', `/api/agent/runs/${encodeURIComponent(id)}` + search({ after, wait }));
    return { ...all, updates: (all.updates ?? []).map((update) => ({ ...update, plan: update.plan && wholePlan(update.plan) })) };
  }
}

/** Lists that hold nothing may come as null. */
const wholePlan = (plan: RunPlan): RunPlan => ({ ...plan, tasks: plan.tasks ?? [], changes: plan.changes ?? [] });
