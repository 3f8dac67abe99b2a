import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Api } from '../../backend/api';
import { Problem } from '../../backend/http';
import { at, samplePlan, sampleRun, tasks } from './run.testing';
import type { Order, Task, TaskRun, TasksSummary } from '../../lib/planwire';
import type { Operation, TimelineEvent } from '../../lib/wire';
import type { AppState } from '../../state/app.svelte';
import { Operations } from '../../state/operations.svelte';
import type { PlanChange } from './change.svelte';
import { PlanRunning } from './running.svelte';
import { planEnd, planEvent, planGist, planOutcome, tallySentence } from './runwords';

vi.hoisted(() => {
  const stored = new Map<string, string>();
  vi.stubGlobal('localStorage', { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => stored.set(key, value), removeItem: (key: string) => stored.delete(key) });
  vi.stubGlobal('navigator', { languages: ['en'], platform: '' });
  vi.stubGlobal('document', { documentElement: {}, getElementById: () => null });
});

describe('a plan that runs', () => {
  const order = vi.fn<(id: string, order: Order) => Promise<object>>();
  const assess = vi.fn<(id: string, tasks: Task[]) => Promise<TasksSummary>>();
  const api = { plans: { order, assess }, operation: () => new Promise(() => undefined) } as unknown as Api;
  let operations: Operations;
  let running: PlanRunning;
  const stands = (over: Partial<Operation>): void => operations.take(samplePlan(over));
  beforeEach(() => {
    order.mockReset().mockResolvedValue({});
    assess.mockReset();
    operations = new Operations(api);
    running = new PlanRunning({ api, operations } as unknown as AppState, 'op_1');
    stands({});
  });

  it('takes the words along with the next order, once', async () => {
    running.text = ' wait for the backup ';
    expect(await running.order({ order: 'pause' })).toBe(true);
    await running.order({ order: 'skip', task_id: 't2' });
    expect(order.mock.calls).toEqual([['op_1', { order: 'pause', text: 'wait for the backup' }], ['op_1', { order: 'skip', task_id: 't2' }]]);
  });

  it('keeps the words of an order that was not taken, and says why', async () => {
    order.mockRejectedValue(new Problem(409, 'task t2 is running already'));
    running.text = 'not now';
    expect(await running.order({ order: 'skip', task_id: 't2' })).toBe(false);
    expect([running.text, running.trouble, running.busy]).toEqual(['not now', 'task t2 is running already', false]);
  });

  it('pauses, or resumes what is paused', () => {
    running.commands(() => undefined)[0]?.run();
    expect(order.mock.lastCall?.[1].order).toBe('pause');
    stands({ version: 2, run: { ...sampleRun(), state: 'paused' } });
    running = new PlanRunning({ api, operations } as unknown as AppState, 'op_1');
    running.commands(() => undefined)[0]?.run();
    expect(order.mock.lastCall?.[1].order).toBe('resume');
  });

  it('has nothing left to order once it is over', () => {
    stands({ version: 2, run: { ...sampleRun(), state: 'finished' } });
    expect(running.commands(() => undefined).map((command) => command.when())).toEqual([false, false, false, false, false]);
  });

  it('knows what tasks come to that an operator added', () => {
    const run = sampleRun();
    run.tasks.push({ id: 't4', description: 'Test it', tool_name: 'sh', state: 'waiting' });
    const summary: TasksSummary = { total_tasks: 1, risk_level: 'high', writes: 0, estimated_tasks: 1, runs: 1, tasks: [{ index: 4, id: 't4', description: 'Test it', tool: 'sh', risk_level: 'high', estimated_seconds: 60 }] };
    stands({ version: 2, run: { ...run, tasks_summary: summary, orders: [{ order: 'change', by: { role: 'operator', name: 'mei' }, at: at(9) }] } });
    expect([running.about.get('t1')?.estimated_seconds, running.about.get('t4')?.estimated_seconds, running.about.get('t4')?.risk_level]).toEqual([540, 60, 'high']);
  });
});

describe('what has not begun', () => {
  const order = vi.fn<(id: string, order: Order) => Promise<object>>();
  const api = { plans: { order, assess: () => new Promise(() => undefined) }, operation: () => new Promise(() => undefined) } as unknown as Api;
  let operations: Operations;
  let running: PlanRunning;
  const stands = (version: number, ...states: Partial<TaskRun>[]): void => operations.take(samplePlan({ version, run: sampleRun(...states) }));
  const change = (): PlanChange => running.change as PlanChange;
  const list = (): string[] => change().plan.editing.tasks.map(({ description }) => description);
  beforeEach(() => {
    order.mockReset().mockResolvedValue({});
    operations = new Operations(api);
    running = new PlanRunning({ api, operations, operator: 'mei' } as unknown as AppState, 'op_1');
    stands(1, { state: 'done' });
    running.begin();
  });

  it('is put on the table, and sent whole, in its new order', async () => {
    expect(list()).toEqual(['Restore into 17', 'Switch over']);
    expect(change().lack).toBe('none');
    const { editing } = change().plan;
    editing.move('t3', 1);
    editing.add([{ description: 'Tell #billing' }]);
    await running.send();
    expect(order.mock.lastCall).toEqual(['op_1', { order: 'change', tasks: [tasks[2], tasks[1], { description: 'Tell #billing' }], moved: ['t3'] }]);
    expect(running.change).toBeNull();
  });

  it('leaves what begins meanwhile, and says so', async () => {
    const { editing } = change().plan;
    editing.edit('t3');
    editing.write({ description: 'Switch over for billing-eu' });
    stands(2, { state: 'done' }, { state: 'running', began_at: at(5) });
    change().settle();
    expect(change().plan.ahead).toBe(2); // the first of what is left is task 3
    expect([list(), change().began]).toEqual([['Switch over for billing-eu'], 'Restore into 17']);
    await running.send();
    expect(order.mock.lastCall?.[1].tasks).toEqual([{ ...tasks[2], description: 'Switch over for billing-eu' }]);
  });

  it('is not sent without words, nor empty: nothing to do is no plan', async () => {
    const { editing } = change().plan;
    editing.addEmpty();
    expect(change().lack).toBe('task');
    await running.send();
    editing.putBack();
    for (const { id } of editing.tasks) editing.remove(id);
    expect(change().lack).toBe('empty');
    await running.send();
    expect(order).not.toHaveBeenCalled();
    expect(running.change).not.toBeNull();
  });

  it('stays on the table when the server says no', async () => {
    order.mockRejectedValue(new Problem(409, 'task t2 is running; only tasks that have not started can be changed'));
    change().plan.editing.remove('t2');
    await running.send();
    expect([running.trouble, list()]).toEqual(['task t2 is running; only tasks that have not started can be changed', ['Switch over']]);
  });
});

describe('the words of a plan', () => {
  const by = { role: 'operator' as const, name: 'mei' };
  const modified = samplePlan({
    result: { by, at: at(0), digest: '', plan: { action: 'modify', tasks, changes: [{ change: 'moved', id: 't3', description: 'Switch over', from: 3, to: 1 }, { change: 'added', id: 't4', description: 'test the rollback', to: 4 }] } },
  });
  const timeout = samplePlan({ state: 'cancelled', overdue: true, result: undefined, run: undefined, ended: { by: { role: 'system' }, at: at(1) } });
  const auto = samplePlan({ result: { by: { role: 'system' }, at: at(0), digest: '', plan: { action: 'confirm', auto: true } } });

  it('say first what was added, and by whom', () => {
    expect(planGist(modified, 'mei')).toBe('You added task 4: test the rollback, and one more change · 0 of 3 done');
    expect(planGist(modified, 'ann')).toBe('mei added task 4: test the rollback, and one more change · 0 of 3 done');
  });

  it('say how it was confirmed, or that it was not', () => {
    expect(planGist(samplePlan(), 'mei')).toBe('Confirmed without changes · 0 of 3 done');
    expect(planGist(samplePlan({ result: { by, at: at(0), digest: '', human_input: 'go', plan: { action: 'confirm' } } }), 'mei')).toBe('Confirmed without changes: “go” · 0 of 3 done');
    expect(planGist(timeout, 'mei')).toBe('Timed out');
    expect([modified, timeout, auto].map(planOutcome)).toEqual(['changed', 'timed out', 'confirmed automatically']);
    expect(planEnd(auto, '', '12:00')).toBe('Confirmed automatically at 12:00');
  });

  it('say how far it has come', () => {
    expect(tallySentence(sampleRun({ state: 'done' }, { state: 'failed' }))).toBe('1 of 3 done, 1 failed');
  });

  it('name tasks by their places, as they are now', () => {
    const op = samplePlan({ run: { ...sampleRun(), tasks: [{ ...(tasks[2] as Task), state: 'done' }, { ...(tasks[0] as Task), state: 'running' }] } });
    const event = (data: TimelineEvent['data'], type: TimelineEvent['type'] = 'progressed'): string => planEvent({ seq: 1, type, at: at(1), operation_id: 'op_1', version: 2, by, data }, op, (own) => own());
    expect(event({ progress: { task_id: 't3', state: 'done', note: 'all green' } })).toBe('Task 1 done: all green');
    expect(event({ progress: { task_id: 't2', state: 'failed' } })).toBe('Task t2 failed');
    expect(event({ order: { order: 'skip', task_id: 't1' } }, 'ordered')).toBe('Task 2 skipped by you');
    expect(event({ answer: { plan: { action: 'modify' } } }, 'completed')).toBe('You sent instructions');
  });
});
