import { expect, test } from 'vitest';
import { agreement, change, enough, sparable } from './attention';
import type { AttentionFigures } from './wire';

const before = (interruptions: number): AttentionFigures => ({ interruptions, popped: 0, answered: 0, measured: 0, capped: 0, spent_ms: 0, rule_hits: 0, runs: 0, saved_ms: 0, unpriced: 0 });

test.each([
  [undefined, false],
  ['2026-11-16T12:00:01Z', false],
  ['2026-11-16T12:00:00Z', true],
  ['2025-01-01T00:00:00Z', true],
])('a history since %s is enough: %s', (since, is) => {
  expect(enough({ since, counted_at: '2026-11-30T12:00:00Z' })).toBe(is);
});

test('the change is said where there were interruptions before', () => {
  expect(change({ interruptions: 6, before: before(8) })).toBe(-0.25);
  expect(change({ interruptions: 6, before: before(0) })).toBeUndefined();
  expect(change({ interruptions: 6 })).toBeUndefined();
});

test('only rules that are offered would have spared time', () => {
  expect(sparable([{ spent_ms: 60_000 }, { spent_ms: 5, why_not: 'has_rule' }, { spent_ms: 30_000 }])).toBe(90_000);
});

test('a rule that blocks agrees with denials', () => {
  const replay = { asked: 9, covered: 7, allowed: 2, denied: 4, unanswered: 1, unknown: 0 };
  expect(agreement({ answer: 'refused', replay })).toEqual({ same: 4, other: 2 });
  expect(agreement({ answer: 'allowed', replay })).toEqual({ same: 2, other: 4 });
});
