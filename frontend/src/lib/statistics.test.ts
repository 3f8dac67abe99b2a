import { describe, expect, it } from 'vitest';
import { gist, late, marked, statistics } from './statistics';
import type { Operation } from './wire';

const now = new Date(2026, 10, 21, 15, 0).getTime();
const operator = { role: 'operator' as const, name: 'mei' };

function op(secondsAgo: number, took: number | null, more: Partial<Operation> = {}): Operation {
  const created = now - secondsAgo * 1000;
  const at = new Date(created + (took ?? 0) * 1000).toISOString();
  return {
    operation_id: String(secondsAgo), version: 1, action_type: 'approve', state: took === null ? 'pending' : 'completed', overdue: false, description: 'x',
    agent_id: 'bot', priority: 5, digest: '', created_at: new Date(created).toISOString(), updated_at: at, on_timeout: 'mark', messages: [], recordings: [],
    ...(took === null ? {} : { result: { decision: 'approve', by: operator, at, digest: '' } }),
    ...more,
  };
}

describe('statistics', () => {
  it('counts an answer in the bar whose end it does not pass', () => {
    expect(statistics([op(100, 5), op(101, 5.1), op(102, 4000)], now, 30, () => 'approve').times).toEqual([1, 1, 0, 0, 0, 0, 0, 0, 1]);
  });

  it('takes the median and the ninth tenth from answers that were given', () => {
    const s = statistics([1, 2, 3, 4, 5, 6, 7, 8, 9, 10].map((took) => op(1000 + took, took)), now, 30, () => 'approve');
    expect([s.median, s.ninth]).toEqual([5000, 9000]);
  });

  it('counts what its agent withdrew as never answered, and in no time', () => {
    const s = statistics([op(100, 3, { state: 'cancelled', result: undefined, ended: { by: operator, at: new Date(now).toISOString() } })], now, 30, () => 'approve');
    expect([s.rings, s.unanswered, s.answers]).toEqual([1, 1, 0]);
  });

  it('has a rate of approval for each risk there was', () => {
    const deny = (risk: 'high') => op(50, 9, { risk, result: { decision: 'deny', by: operator, at: new Date(now).toISOString(), digest: '' } });
    const s = statistics([op(40, 9, { risk: 'high' }), deny('high'), op(60, 9)], now, 30, () => 'approve');
    expect([s.yes, s.decisions]).toEqual([2, 3]);
    expect(s.shares).toEqual([{ risk: 'high', yes: 1, all: 2 }, { risk: '', yes: 1, all: 1 }]);
  });

  it('leaves out what rang before the first day, and keeps that of today', () => {
    const s = statistics([op(31 * 86400, 1), op(60, null)], now, 30, () => 'approve');
    expect([s.rings, s.days.length, s.days.at(-1)?.total]).toEqual([1, 30, 1]);
  });
});

describe('marked', () => {
  it('marks each word, whatever its case', () => {
    expect(marked('No Rollback plan, roll back', 'rollback plan').filter((p) => p.hit).map((p) => p.text)).toEqual(['Rollback', 'plan']);
  });

  it('takes signs in a query for what they are', () => {
    expect(marked('a.b axb', 'a.b').filter((p) => p.hit).map((p) => p.text)).toEqual(['a.b']);
  });

  it('begins near the first hit of a long text', () => {
    const pieces = marked('word '.repeat(40) + 'target', 'target');
    expect(pieces[0]?.text.startsWith('…')).toBe(true);
    expect(pieces.at(-1)).toEqual({ text: 'target', hit: true });
  });
});

it('says what was answered, or why nothing was', () => {
  expect(gist(op(1, 1, { result: { human_input: 'two\nlines', by: operator, at: '', digest: '', fields: { plan: 'A' } } }))).toBe('two lines · plan: A');
  expect(gist(op(1, 1, { result: { human_input: 'it is Friday', summary: 'Denied: it is Friday', by: operator, at: '', digest: '' } }))).toBe('Denied: it is Friday');
  expect(gist(op(1, null, { state: 'declined', ended: { by: operator, at: '', reason: 'not today' } }))).toBe('not today');
});

it('knows an answer that came after its time', () => {
  expect(late(op(100, 50, { expires_at: new Date(now - 60_000).toISOString() }))).toBe(true);
  expect(late(op(100, 30, { expires_at: new Date(now - 60_000).toISOString() }))).toBe(false);
});
