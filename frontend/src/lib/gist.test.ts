import { describe, expect, it } from 'vitest';
import { gist, late, marked } from './gist';
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
