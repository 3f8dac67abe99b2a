import { expect, test } from 'vitest';
import { weeksOf } from './attention';

test('weeks begin on Mondays, the first with the first day', () => {
  const day = (date: string): { date: string; spent_ms: number; saved_ms: number } => ({ date, spent_ms: 60_000, saved_ms: 120_000 });
  expect(weeksOf(['2026-11-28', '2026-11-29', '2026-11-30', '2026-12-01'].map(day))).toEqual([
    { from: '2026-11-28', spent: 2, saved: 4 },
    { from: '2026-11-30', spent: 2, saved: 4 },
  ]);
  expect(weeksOf([])).toEqual([]);
});
