import { call, search, type Connection } from './http';
import type { GivenOrder, Order, PastPlan, PlanHistory, PlanResponse, PlanRun, PlanView, PlanStatistics, Preset, Task, TasksSummary, TaskSummary, Tried, UsualChange } from '../lib/planwire';

/** The calls about agents' plans. A plan goes by its operation's id. Each throws a Problem and nothing else. */
export class PlansApi {
  constructor(private readonly to: Connection) {}

  /** Confirms, modifies or cancels a plan; where several operators have to agree, it is counted. */
  async respond(id: string, response: PlanResponse): Promise<PlanView> {
    return completePlan(await call(this.to, 'POST', of(id, '/response'), response));
  }

  /** What an operator orders while the plan runs. */
  async order(id: string, order: Order): Promise<PlanView> {
    return completePlan(await call(this.to, 'POST', of(id, '/orders'), order));
  }

  /** What tasks come to. Nothing is changed. */
  async assess(id: string, tasks: Task[]): Promise<TasksSummary> {
    const summary = await call<Omit<TasksSummary, 'tasks'> & { tasks: TaskSummary[] | null }>(this.to, 'POST', of(id, '/assess'), { tasks });
    return { ...summary, tasks: summary.tasks ?? [] };
  }

  /** Runs a command of it that only reads, confined so that it changes nothing. */
  try(id: string, command: string): Promise<Tried> {
    return call(this.to, 'POST', of(id, '/try'), { command });
  }

  /** What was decided for plans like this one. */
  async history(id: string): Promise<PlanHistory> {
    const all = await call<Pick<PlanHistory, 'counts'> & { alike: PastPlan[] | null; usual: UsualChange[] | null; presets: Preset[] | null }>(this.to, 'GET', of(id, '/history'));
    return { counts: all.counts, alike: (all.alike ?? []).map((past) => ({ ...past, changes: past.changes ?? [] })), usual: all.usual ?? [], presets: (all.presets ?? []).map(wholePreset) };
  }

  async presets(): Promise<Preset[]> {
    return ((await call<{ presets: Preset[] | null }>(this.to, 'GET', '/api/plan-presets')).presets ?? []).map(wholePreset);
  }

  /** Keeps a preset; with the id of one that exists, in its place. */
  async putPreset(preset: Preset): Promise<Preset> {
    return wholePreset(await call(this.to, 'POST', '/api/plan-presets', preset));
  }

  dropPreset(id: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/plan-presets/${encodeURIComponent(id)}`);
  }

  /** How plans were answered; 0 days are the usual number. */
  async statistics(days = 0): Promise<PlanStatistics> {
    const all = await call<{ [K in keyof PlanStatistics]: PlanStatistics[K] | null }>(this.to, 'GET', '/api/plan-statistics' + search({ days: days || '' }));
    return { ...(all as PlanStatistics), changes: all.changes ?? [], per_day: all.per_day ?? [], tools: all.tools ?? [] };
  }
}

const of = (id: string, what = ''): string => `/api/plans/${encodeURIComponent(id)}${what}`;

/** Lists that hold nothing may come as null. */
function completePlan(view: Omit<PlanView, 'tasks' | 'run'> & { tasks: Task[] | null; run?: { [K in keyof PlanRun]: PlanRun[K] | null } }): PlanView {
  const { run } = view;
  return { ...view, tasks: view.tasks ?? [], run: run && { state: run.state ?? 'waiting', tasks: run.tasks ?? [], orders: (run.orders ?? []) as GivenOrder[] } };
}

const wholePreset = (preset: Preset): Preset => ({ ...preset, tasks: preset.tasks ?? [] });
