import { getContext, setContext } from 'svelte';
import { known, questionOfPlan, tally, silentSince } from './run';
import { ended, underWay } from '../../lib/life';
import type { Order, PlanRun, TaskSummary } from '../../lib/planwire';
import type { Operation } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { AppState } from '../../state/app.svelte';
import { PlanChange } from './change.svelte';
import { errorText } from '../../state/sentences.svelte';
import { ticker } from '../../state/ticker.svelte';

/** A confirmed plan that is looked at: what is known of its tasks, and what the operator orders. */
export class PlanRunning {
  /** Words for the agent, that go with the next order. */
  text = $state('');
  busy = $state(false);
  /** Why the last order was not taken. */
  trouble = $state('');
  /** The tasks that have not begun, while they are being changed. */
  change = $state.raw<PlanChange | null>(null);

  readonly op = $derived.by<Operation | undefined>(() => this.app.operations.all.get(this.id));
  readonly run = $derived.by<PlanRun | undefined>(() => this.op?.run);
  /** The request that asks about one of its tasks, while it waits for an answer. */
  readonly asks = $derived.by<Operation | undefined>(() => [...this.app.operations.all.values()].find((op) => op.part_of === this.id && !ended(op)));
  readonly active = $derived.by<boolean>(() => !!this.op && underWay(this.op));
  readonly paused = $derived.by<boolean>(() => this.run?.state === 'paused');
  readonly about = $derived.by<Map<string, TaskSummary>>(() => known([this.op && questionOfPlan(this.op)?.tasks_summary, this.run?.tasks_summary]));
  readonly silent = $derived.by<string | null>(() => (this.op ? silentSince(this.op, this.app.operations.presence.get(this.id), this.about, ticker.now) : null));

  readonly canChange = $derived.by<boolean>(() => !!this.run && tally(this.run).waiting > 0 && !!this.op && !!questionOfPlan(this.op)?.options.includes('modify'));

  constructor(
    private readonly app: AppState,
    readonly id: string,
  ) {}

  /** Gives an order, with the words that were written for the agent. Returns whether it was taken. */
  async order(order: Order): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    const text = (order.text ?? this.text).trim();
    try {
      await this.app.api.plans.order(this.id, { ...order, ...(text && { text }) });
      this.text = '';
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      return false;
    } finally {
      this.app.operations.refresh(this.id);
      this.busy = false;
    }
  }

  /** Puts the tasks that have not begun on the table. */
  begin(): void {
    this.change = new PlanChange(this.app, this);
  }

  async send(): Promise<void> {
    if (await this.change?.send()) this.change = null;
  }

  /** What can be done with a plan that runs, as commands. Stopping asks first; only it has no key. */
  commands(stop: () => void): Command[] {
    const when = (): boolean => this.active && !this.busy;
    return [
      { id: 'plan-pause', label: () => (this.paused ? m.planrun_cmd_resume() : m.planrun_cmd_pause()), keys: ['p'], group: 'answer', when, run: () => void this.order({ order: this.paused ? 'resume' : 'pause' }) },
      { id: 'plan-change', label: m.planrun_cmd_change, keys: ['e'], group: 'answer', when: () => when() && this.canChange && !this.change, run: () => this.begin() },
      {
        id: 'plan-send', label: () => (this.change?.plan.count ? m.planrun_change_send({ n: this.change.plan.count }) : m.planrun_change_send_none()), keys: ['Mod+Enter'], group: 'answer',
        when: () => when() && !!this.change && (this.change.lack === '' || this.change.lack === 'task'), run: () => void this.send(),
      },
      { id: 'plan-leave', label: m.planrun_change_leave, keys: ['Escape'], group: 'answer', when: () => !!this.change, run: () => (this.change = null) },
      { id: 'plan-stop', label: m.planrun_cmd_stop, keys: [], group: 'answer', when, run: stop },
    ];
  }
}

const key = Symbol('running');

/** Makes it known to everything that is drawn of one operation. */
export const provideRunning = (running: PlanRunning): PlanRunning => setContext(key, running);
export const useRunning = (): PlanRunning => getContext(key);
