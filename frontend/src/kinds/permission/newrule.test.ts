import { describe, expect, it } from 'vitest';
import type { GateRule } from '../../lib/gatewire';
import { endOf, past, reachOf, ruleFor, spanOf, spans } from './newrule';

const now = Date.parse('2026-11-21T14:00:00Z');
const rule: GateRule = { rule_id: '', decision: 'allow', command: 'rm -rf build/', source: 'operator', matched: 0 };

describe('the end of a new rule', () => {
  it('is a span from now, or never', () => {
    expect(spans.map((span) => endOf(span, now))).toEqual(['2026-11-21T15:00:00.000Z', '2026-11-22T14:00:00.000Z', '2026-11-28T14:00:00.000Z', '2026-12-21T14:00:00.000Z', undefined]);
  });

  it('is a week unless the rule says otherwise, and for ever only when somebody chooses it', () => {
    expect(spanOf(rule, now)).toBe('week');
    expect(spanOf({ ...rule, until: '2026-11-21T14:50:00Z' }, now)).toBe('hour');
    expect(spanOf({ ...rule, until: '2026-12-18T14:00:00Z' }, now)).toBe('month');
  });
});

describe('what it would have matched', () => {
  it('is past, and what waits is not', () => {
    const call = { call: 'rm', times: 2, last: '' };
    const calls = [{ ...call, outcome: 'waiting' as const }, { ...call, outcome: 'refused' as const }];
    expect(past({ rule, days: 30, total: 4, refused: 2, calls })).toMatchObject({ total: 2, refused: 2, calls: [calls[1]] });
  });
});

describe('where a new rule applies', () => {
  it('is read from the rule', () => {
    expect(reachOf(rule)).toBe('everywhere');
    expect(reachOf({ ...rule, project: '/p' })).toBe('project');
    expect(reachOf({ ...rule, project: '/p', session_id: 's' })).toBe('session');
  });

  it('is written into it, with nothing of what was there before', () => {
    const of = { session: 's', project: '/p' };
    const before = { ...rule, project: '/other', session_id: 'x', until: 'y' };
    expect(ruleFor(before, 'session', of, 'u')).toEqual({ ...rule, project: '/p', session_id: 's', until: 'u' });
    expect(ruleFor(before, 'project', of, undefined)).toEqual({ ...rule, project: '/p' });
    expect(ruleFor(before, 'everywhere', of, undefined)).toEqual(rule);
  });
});
