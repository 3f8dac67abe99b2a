import { expect, it } from 'vitest';
import { axis, dayOf, depth, gutter, tabbed } from './statistics';

it('a day ends where the next one begins, also where the clocks change', () => {
  for (const date of ['2026-03-29', '2026-10-25', '2026-12-31']) {
    const { from, to } = dayOf(date);
    expect([from.getHours(), to.getHours()]).toEqual([0, 0]);
    expect(to.getDate()).not.toBe(from.getDate());
  }
  expect(dayOf('2026-02-28').to.getMonth()).toBe(2);
});

it('an axis ends above the most, and has lines at whole numbers', () => {
  for (const most of [1, 4, 5, 14, 61, 999]) {
    const { top, lines } = axis(most);
    expect(top).toBeGreaterThanOrEqual(most);
    expect(lines.every(Number.isInteger)).toBe(true);
  }
});

it('only what there is has a shade', () => {
  expect([0, 1, 50, 100].map((n) => depth(n, 100))).toEqual([0, 1, 2, 4]);
});

it('a name cannot break out of its cell, nor be a formula', () => {
  expect(tabbed([['=HYPERLINK("x")', 3], ['a\tb\nc', 1]])).toBe('\'=HYPERLINK("x")\t3\na b c\t1');
});

it('an axis has room for its longest words, in letters of either width', () => {
  expect(gutter(['1 s', '15 min'])).toBeGreaterThan(gutter(['1 s']));
  expect(gutter(['15 分钟'])).toBeGreaterThan(gutter(['15 min']));
});
