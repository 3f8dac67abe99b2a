import { expect, test } from 'vitest';
import { dueAgain } from './escalate';

const minute = 60_000;

test.each([
  ['before its time', 2 * minute - 1, 2, 2, 0],
  ['after it', 2 * minute, 2, 2, 1],
  ['and after as long again', 4 * minute, 2, 2, 2],
  ['then no more', 60 * minute, 2, 2, 2],
  ['where it is switched off', 60 * minute, 0, 2, 0],
  ['a clock that is behind', -minute, 2, 2, 0],
])('a request is shown again: %s', (_, waited, every, times, due) => {
  expect(dueAgain(waited, every * minute, times)).toBe(due);
});
