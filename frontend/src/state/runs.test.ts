import { describe, expect, it, vi } from 'vitest';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import type { AgentRun, RunUpdate, RunUpdates } from '../lib/wire';
import { sampleOperation } from '../lib/sample.testing';
import { Operations } from './operations.svelte';
import { RunList, RunReading } from './runs.svelte';

const run = (of: Partial<AgentRun> = {}): AgentRun => ({ run_id: 'run_1', agent: 'deskbell-agent', task: 'Mend the test', at: '2026-01-02T12:00:00Z', state: 'executing', alive: true, over: false, last_at: '', content: '', spent: { steps: 0, tokens_in: 0, tokens_out: 0, time_ns: 0 }, ...of });
const update = (content: string): RunUpdate => ({ type: 'status_update', at: '', session_id: 'run_1', state: 'executing', content });

/** A server that gives these answers in order; then it is read no more. */
function reading(answers: (RunUpdates | Problem)[]) {
  const asked: [number, number][] = [];
  let end = (): void => undefined;
  const read = vi.fn(async (_id: string, after: number, wait: number) => {
    asked.push([after, wait]);
    const next = answers.shift();
    if (!answers.length && !next) end();
    if (next instanceof Problem) throw next;
    return next ?? { run: run(), updates: [], next: after };
  });
  const mine = sampleOperation({ operation_id: 'op_1', agent_id: 'deskbell-agent', session_id: 'run_1' });
  const api = { runs: { read }, operations: async () => ({ operations: [sampleOperation({ operation_id: 'op_0', session_id: 'other' }), mine] }) } as unknown as Api;
  const operations = new Operations(api);
  const of = new RunReading(api, operations, 'run_1', () => Promise.resolve());
  end = () => of.leave();
  return { of, asked, operations };
}

describe('a run that is read along', () => {
  it('is asked for what it has first, and then for more, up to its end', async () => {
    const { of, asked } = reading([
      { run: run(), updates: [update('a'), update('b')], next: 2 },
      { run: run({ state: 'completed', alive: false }), updates: [update('c')], next: 3 },
      { run: run({ state: 'completed', alive: false }), updates: [], next: 3 },
    ]);
    await of.follow();
    expect(asked).toEqual([[0, 0], [2, 25], [3, 0]]);
    expect(of.updates.map(({ content }) => content)).toEqual(['a', 'b', 'c']);
    expect([of.over, of.died]).toEqual([true, false]);
  });

  it('is read on after a break, from where it stood', async () => {
    const { of, asked } = reading([{ run: run(), updates: [update('a')], next: 1 }, new Problem(0, ''), { run: run({ alive: false }), updates: [update('b')], next: 2 }]);
    await of.follow();
    expect(asked.map(([after]) => after)).toEqual([0, 1, 1, 2]);
    expect([of.updates.length, of.died, of.trouble]).toEqual([2, true, '']);
  });

  it('that is not there is not asked for again', async () => {
    const { of, asked } = reading([new Problem(404, 'there is no run run_1')]);
    await of.follow();
    expect([of.gone, asked.length]).toEqual([true, 1]);
  });

  it('finds what it asked people, by its session', async () => {
    const { of, operations } = reading([{ run: run(), updates: [], next: 0 }]);
    await of.follow();
    await new Promise((resolve) => setImmediate(resolve));
    operations.take(sampleOperation({ operation_id: 'op_2', session_id: 'run_1', created_at: '2026-01-02T11:00:00Z' }));
    expect(of.operations.map((op) => op.operation_id)).toEqual(['op_1', 'op_2']);
  });
});

it('a list of runs is not spoken of where there is no agent', async () => {
  const list = new RunList({ list: async () => { throw new Problem(503, 'without'); } });
  await list.load();
  expect([list.missing, list.trouble]).toEqual([true, '']);
});
