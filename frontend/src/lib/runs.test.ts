import { describe, expect, it } from 'vitest';
import { chapters, course, died, endingOf, over, resumeCommand } from './runs';
import type { AgentRun, RunUpdate } from './wire';

let second = 0;
const update = (of: Partial<RunUpdate>): RunUpdate => ({ type: 'status_update', at: new Date(Date.UTC(2026, 0, 2, 12, 0, second++)).toISOString(), session_id: 'run_1', state: 'executing', content: '', ...of });
const tasks = [{ id: 't1', description: 'Run the tests', tool_name: 'shell' }, { id: 't2', description: 'Mend it', tool_name: 'edit' }];
const plan = { operation_id: 'op_1', status: 'confirmed', tasks };
const updates: RunUpdate[] = [
  update({ state: 'planning', content: 'Looking at the folder' }),
  update({ type: 'confirmation_request', state: 'awaiting_confirmation', plan: { ...plan, status: 'pending' } }),
  update({ type: 'task_plan', plan }),
  update({ type: 'task_init', task_id: 't1', tool: 'shell', call: 'go test ./...', content: 'Run the tests' }),
  update({ task_id: 't1', tool: 'shell', call: 'go test ./...', outcome: 'failed', content: 'FAIL' }),
  update({ task_id: 't1', tool: 'shell', call: 'go vet ./...', outcome: 'refused', content: 'refused: not now' }),
  update({ type: 'sub_task_result', task_id: 't1', tool: 'shell', call: 'go test ./...', outcome: 'failed', content: 'one test fails' }),
];

describe('the course of a run', () => {
  it('is its latest plan, with how each task stands', () => {
    const of = course(updates);
    expect(of.plan).toMatchObject({ status: 'confirmed', operation_id: 'op_1' });
    expect(of.steps.map(({ state, note }) => [state, note])).toEqual([['failed', 'one test fails'], ['waiting', '']]);
    expect(of.operations).toEqual(['op_1']);
  });

  it('counts calls, and a task that is one call once', () => {
    expect(course(updates).calls).toEqual({ done: 0, failed: 1, refused: 1, skipped: 0, asks: 0 });
    const one = update({ type: 'sub_task_result', task_id: 't2', tool: 'edit', call: 'main.go', outcome: 'done' });
    expect(course([...updates, one]).calls.done).toBe(1);
    expect(course([update({ type: 'sub_task_result', tool: 'shell', call: 'ls', outcome: 'done' })]).calls.done).toBe(1);
  });

  it('keeps what has ended where the plan was changed while it ran', () => {
    const of = course([...updates, update({ type: 'task_plan', plan: { status: 'modified', tasks: [...tasks, { id: 't3', description: 'Tell the team' }] } })]);
    expect(of.steps.map(({ task, state }) => [task.id, state])).toEqual([['t1', 'failed'], ['t2', 'waiting'], ['t3', 'waiting']]);
    expect(of.plan?.operation_id).toBe('op_1');
  });

  it('begins anew with another plan, whose tasks may have the same ids', () => {
    const of = course([...updates, update({ type: 'task_plan', plan: { ...plan, operation_id: 'op_2' } })]);
    expect(of.steps.map(({ state }) => state)).toEqual(['waiting', 'waiting']);
    expect(of.operations).toEqual(['op_1', 'op_2']);
  });
});

it('has a chapter for each task, and for what lies between', () => {
  const list = chapters([...updates, update({ state: 'evaluating', content: 'Task t1 has ended' }), update({ type: 'task_init', task_id: 't2', tool: 'edit' })]);
  expect(list.map(({ task, updates }) => [task?.id, updates.length])).toEqual([[undefined, 3], ['t1', 4], [undefined, 1], ['t2', 1]]);
});

it('says once that a call was made, with what came of it', () => {
  const call = { task_id: 't1', tool: 'shell', call: 'ls' };
  const list = chapters([update({ type: 'task_plan', plan }), update(call), update({ ...call, outcome: 'done' }), update(call)]);
  expect(list[1]?.updates.map(({ outcome }) => outcome)).toEqual(['done', undefined]);
});

describe('a run', () => {
  const run = (of: Partial<AgentRun>): AgentRun => ({ run_id: 'run_1', agent: 'agent', task: 'x', at: '', state: 'executing', alive: true, over: false, last_at: '', content: '', spent: { steps: 0, tokens_in: 0, tokens_out: 0, time_ns: 0 }, ...of });
  it('that has ended needs no process; any other that has none has died, and can be resumed', () => {
    expect([run({}), run({ alive: false }), run({ alive: false, state: 'completed' }), run({ alive: false, state: 'failed' }), run({ alive: false, state: 'failed', over: true })].map((one) => [over(one), died(one), endingOf(one)])).toEqual([[false, false, undefined], [false, true, 'interrupted'], [true, false, 'done'], [false, true, 'failed'], [true, false, 'failed']]);
    expect(endingOf(run({ alive: false, state: 'failed', ending: 'needs_input' }))).toBe('needs_input');
    expect(endingOf(run({ state: 'failed', ending: 'failed' }))).toBeUndefined();
    expect(resumeCommand(run({}))).toBe('deskbell agent resume run_1');
  });
});
