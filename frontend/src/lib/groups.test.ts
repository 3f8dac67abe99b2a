import { describe, expect, test } from 'vitest';
import { inbox } from './groups';
import { sampleOperation as op } from './sample.testing';

const now = Date.parse('2026-01-02T10:05:00Z');
const names = (...args: Parameters<typeof inbox>): Record<string, string[]> =>
  Object.fromEntries(inbox(...args).map((group) => [group.name, group.operations.map((o) => o.operation_id)]));

describe('the inbox', () => {
  test('orders by instants, however times are written', () => {
    const at = (...times: string[]): string => inbox(times.map((created_at, i) => op({ operation_id: String(i), created_at })), now)[0]?.operations.map((o) => o.operation_id).join('') ?? '';
    expect(at('2026-01-02T10:01:00.5Z', '2026-01-02T10:01:00Z')).toBe('10');
    expect(at('2026-01-02T10:01:00.500000002Z', '2026-01-02T10:01:00.500000001Z')).toBe('10');
    expect(at('2026-01-02T11:02:00+01:00', '2026-01-02T10:01:00Z', '2026-01-02T08:00:00-02:00')).toBe('210');
  });

  const all = [
    op({ operation_id: 'young', created_at: '2026-01-02T10:04:00Z' }),
    op({ operation_id: 'old', created_at: '2026-01-02T10:01:00Z' }),
    op({ operation_id: 'urgent', created_at: '2026-01-02T10:04:30Z', priority: 9, project: 'web', risk: 'high' }),
    op({ operation_id: 'claimed', state: 'claimed', agent_id: 'other' }),
    op({ operation_id: 'later', snoozed_until: '2026-01-02T12:00:00Z' }),
    op({ operation_id: 'sooner', snoozed_until: '2026-01-02T11:00:00Z', action_type: 'bash' }),
    op({ operation_id: 'done', state: 'completed', result: { by: { role: 'operator' }, at: '2026-01-02T10:03:00Z', digest: '' } }),
    op({ operation_id: 'left', state: 'claimed', frozen: true }),
    op({ operation_id: 'long-ago', state: 'declined', ended: { by: { role: 'operator' }, at: '2025-12-01T10:03:00Z' } }),
  ];
  test('puts urgent before old before young, and what sleeps by when it wakes', () =>
    expect(names(all, now)).toEqual({ ringing: ['urgent', 'old', 'young'], waiting: ['claimed'], snoozed: ['sooner', 'later'], today: ['done'] }));
  test('has groups for what is handed over, claimed and for others, in a team', () => {
    const team = [
      op({ operation_id: 'mine', state: 'claimed', claimed_by: 'ann' }),
      op({ operation_id: 'given', state: 'claimed', claimed_by: 'ann', hand_over: { from: 'ann', to: 'mei', by: 'ann', at: '2026-01-02T10:02:00Z' } }),
      op({ operation_id: 'handed', state: 'claimed', claimed_by: 'mei', hand_over: { from: 'mei', to: 'ann', by: 'mei', at: '2026-01-02T10:02:00Z' } }),
      op({ operation_id: 'theirs', state: 'claimed', claimed_by: 'mei', others_asked: true }),
      op({ operation_id: 'asked', others_asked: true }),
      op({ operation_id: 'me' }),
      op({ operation_id: 'late', overdue: true }),
    ];
    const want = { ringing: ['me'], handed: ['handed'], mine: ['given', 'mine'], waiting: ['late'], others: ['asked', 'theirs'] };
    expect(names(team, now, {}, 'ann')).toEqual(want);
    expect(Object.keys(names(team, now, {}, 'ann'))).toEqual(Object.keys(want));
    expect(names(team, now)).toEqual({ ringing: ['me'], waiting: ['asked', 'given', 'handed', 'late', 'mine', 'theirs'] });
  });
  test('filters by agent', () => expect(names(all, now, { agent: 'other' })).toEqual({ waiting: ['claimed'] }));
  test('filters by kind', () => expect(names(all, now, { kind: 'bash' })).toEqual({ snoozed: ['sooner'] }));
  test('filters by project', () => expect(names(all, now, { project: 'web' })).toEqual({ ringing: ['urgent'] }));
  test('filters by risk', () => expect(names(all, now, { risk: 'high' })).toEqual({ ringing: ['urgent'] }));
  test('filters by what names none', () => expect(names(all, now, { risk: '-', state: 'ringing' })).toEqual({ ringing: ['old', 'young'] }));
  test('filters by state', () => expect(Object.keys(names(all, now, { state: 'today' }))).toEqual(['today']));
  test('keeps a plan that runs under what rings, however long ago it was confirmed', () => {
    const plan = (id: string, state: 'paused' | 'finished') => op({ operation_id: id, action_type: 'plan', state: 'completed', created_at: '2026-01-01T09:00:00Z', run: { state, tasks: [], orders: [] }, result: { by: { role: 'operator' }, at: '2026-01-01T09:05:00Z', digest: '', plan: { action: 'confirm' } } });
    const groups = names([...all, plan('runs', 'paused'), plan('ran', 'finished')], now);
    expect(groups.running).toEqual(['runs']);
    expect(Object.keys(groups).slice(0, 2)).toEqual(['ringing', 'running']);
  });
});
