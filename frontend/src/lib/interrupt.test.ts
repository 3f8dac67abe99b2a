import { expect, test } from 'vitest';
import { interruption, type Waiting } from './interrupt';

const card: Waiting = { inFront: false, card: true, seen: false, waited: 0, after: 10, another: false };

test.each<[string, Partial<Waiting>, string]>([
  ['a new card interrupts by itself', {}, 'later'],
  ['a card that was not seen in time gets a notification', { waited: 10 }, 'now'],
  ['a card that was seen gets none', { waited: 60, seen: true }, 'known'],
  ['one notification stands for all cards', { waited: 60, another: true }, 'later'],
  ['with no seconds to wait it comes at once', { after: 0 }, 'now'],
  ['the inbox in front is enough', { inFront: true, card: false, waited: 60 }, 'known'],
  ['without a card it comes at once', { card: false }, 'now'],
  ['without a card each request has its own', { card: false, another: true }, 'now'],
  ['what was seen elsewhere needs none', { card: false, seen: true }, 'known'],
])('%s', (_, more, want) => {
  expect(interruption({ ...card, ...more })).toBe(want);
});
