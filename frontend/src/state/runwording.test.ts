import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentRun, RunLimits, RunUpdate } from '../lib/wire';
import { language } from './locale.svelte';
import { both } from './locale.testing';
import { loadSentences } from './sentences.svelte';
import { contentOf, runState, spentLines, spentWords } from './runwording';

const run = (money?: number, limits?: RunLimits): AgentRun => ({
  run_id: 'run_1', agent: 'deskbell-agent', task: 'Mend the test', at: '', state: 'executing', alive: true, over: false, last_at: '', content: '', limits,
  spent: { steps: 12, tokens_in: 30_000, tokens_out: 400, time_ns: 42e9, ...(money !== undefined && { money }) },
});

describe('what a run has used', () => {
  beforeAll(() => language.choose('en'));

  it('is told beside its limits', () => {
    expect(spentLines(run(0.5, { steps: 100, tokens: 2_000_000, time_ns: 3600e9, money: 2 })).map(([, words]) => words)).toEqual([
      '12 of 100', '30,000', '400', '30,400 of 2,000,000', '42 s of 60 min', '0.50 of 2.00',
    ]);
  });

  it('is told as it is where there is no limit, or none is known', () => {
    for (const limits of [undefined, {}, { steps: 0, money: 0 }]) expect(spentLines(run(undefined, limits)).map(([, words]) => words)).toEqual(['12', '30,000', '400', '42 s']);
    expect(spentLines(run(0.5)).at(-1)).toEqual(['Cost', '0.50']);
    expect(spentLines(run(undefined, { money: 2 })).at(-1)).toEqual(['Cost', '0.00 of 2.00']);
  });

  it('has the currency of the prices, where that is known', () => {
    expect(spentLines(run(0.5, { money: 2, currency: 'USD' })).at(-1)).toEqual(['Cost', '$0.50 of $2.00']);
    expect(spentWords(run(0.0042, { currency: 'CNY' })).at(-1)).toBe('cost CN¥0.0042');
    expect(spentWords(run(0.5, { currency: 'no' })).at(-1)).toBe('cost 0.50');
  });
});

it('says how a run ended, or what it is at', () => {
  const words = (of: Partial<AgentRun>): string => runState({ ...run(), ...of });
  expect([words({}), words({ alive: false }), ...(['done', 'failed', 'needs_input', 'denied', 'interrupted'] as const).map((ending) => words({ alive: false, state: 'failed', ending }))]).toEqual([
    'Working', 'Interrupted', 'Completed', 'Failed', 'Needs an answer', 'Denied', 'Interrupted',
  ]);
});

describe('what a run tells', () => {
  it('is in the language of the page where it is Deskbell that speaks', async () => {
    await loadSentences();
    const update = { content: 'No, says Mei\nNothing was done.', said: [{ text: 'Nothing was done.', code: 'nothing_was_done' }] } as RunUpdate;
    expect(both(() => contentOf(update))).toEqual(['No, says Mei\nNothing was done.', 'No, says Mei\n没有执行任何操作。']);
  });
});
