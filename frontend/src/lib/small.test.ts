import { expect, test } from 'vitest';
import { backoff } from './backoff';
import { sha256, shortDigest, tinyDigest } from './digest';
import { snoozeTimes } from './snooze';

test('waiting doubles, is spread, and has an end', () => {
  expect([0, 1, 2, 20].map((n) => backoff(n, 1))).toEqual([250, 500, 1000, 10_000]);
  expect(backoff(2, 0)).toBe(500);
});

test('a digest is of the bytes in UTF-8', async () => {
  expect(await sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
  expect(await sha256('é')).toBe('4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c');
});

test('a digest is cut for the eye', () => {
  const hex = '9f2c7ab0'.padEnd(56, '0') + '13d5e41b';
  expect(shortDigest(hex)).toBe('9f2c 7ab0 … 13d5 e41b');
  expect(tinyDigest(hex)).toBe('9f2c…e41b');
});

test('tomorrow is nine in the morning, over the end of a month too', () => {
  const evening = new Date(2026, 0, 31, 23, 30).getTime();
  const at = (now: number, name: string): string | undefined => snoozeTimes(now).find((time) => time.name === name)?.until;
  expect(new Date(at(evening, 'tomorrow') ?? '')).toEqual(new Date(2026, 1, 1, 9, 0));
  expect(Date.parse(at(evening, 'quarter') ?? '') - evening).toBe(15 * 60_000);
  // In three hours it is tomorrow.
  expect(at(evening, 'later')).toBeUndefined();
  expect(Date.parse(at(evening - 12 * 3600_000, 'later') ?? '')).toBe(evening - 9 * 3600_000);
});

test.each([
  ['a Saturday', 31, new Date(2026, 1, 2, 9)],
  ['a Monday is followed by another', 26, new Date(2026, 1, 2, 9)],
  ['a Sunday calls it tomorrow', 25, undefined],
])('next Monday: %s', (_, day, monday) => {
  const until = snoozeTimes(new Date(2026, 0, day, 12).getTime()).find(({ name }) => name === 'monday')?.until;
  expect(until && new Date(until)).toEqual(monday);
});
