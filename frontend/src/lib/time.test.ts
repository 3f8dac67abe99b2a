import { describe, expect, test } from 'vitest';
import { age, fractionLeft, span, stopwatch } from './time';

const minute = 60_000;

describe('a span', () => {
  test.each([
    ['seconds by the clock', 52_000, { unit: 'clock', text: '0:52' }],
    ['less than ten minutes by the clock', 4 * minute + 12_999, { unit: 'clock', text: '4:12' }],
    ['ten minutes and more in minutes', 10 * minute, { unit: 'minutes', n: 10 }],
    ['two hours and more in hours', 3.5 * 60 * minute, { unit: 'hours', n: 3 }],
    ['two days and more in days', 50 * 60 * minute, { unit: 'days', n: 2 }],
    ['nothing is left, and never less', -5000, { unit: 'clock', text: '0:00' }],
  ])('%s', (_, ms, want) => expect(span(ms)).toEqual(want));
});

test('a stop watch shows hours only when there are any', () => {
  expect(stopwatch(59_999)).toBe('0:59');
  expect(stopwatch(3_723_000)).toBe('1:02:03');
});

test('an age is coarse', () => {
  expect(age(59_000)).toEqual({ unit: 'now' });
  expect(age(59 * minute)).toEqual({ unit: 'minutes', n: 59 });
  expect(age(25 * 60 * minute)).toEqual({ unit: 'days', n: 1 });
});

describe('what is left of a time limit', () => {
  const created = '2026-01-01T00:00:00Z';
  const at = (s: number): number => Date.parse(created) + s * 1000;
  test('shrinks from one to nothing and stays there', () => {
    const expires = '2026-01-01T00:01:40Z';
    expect(fractionLeft(created, expires, at(0))).toBe(1);
    expect(fractionLeft(created, expires, at(75))).toBe(0.25);
    expect(fractionLeft(created, expires, at(500))).toBe(0);
  });
  test('is nothing where there is no limit', () => expect(fractionLeft(created, undefined, at(0))).toBeNull());
});
