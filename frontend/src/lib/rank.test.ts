import { expect, test } from 'vitest';
import { fit, standing } from './rank';

test.each([
  ['replace the lock', 'lock', 3], ['unlock the lock', 'lock', 3], ['locks', 'lock', 2], ['unlock', 'lock', 1], ['key', 'lock', 0], ['user_id.txt', 'id', 3], ['aws-logs', 'logs', 3],
  ['供应商名单', '供应商', 3], ['确认供应商', '供应商', 2], ['打开lock文件', 'lock', 3], ['😀lock', 'lock', 3], ['anything', '', 0],
])('in "%s" stands "%s": %i', (text, word, want) => {
  expect(standing(text, word)).toBe(want);
});

test('the title counts more than what stands beside it, and the word that fits least counts', () => {
  const ranks = [
    fit('lock', 'The lock', 'x'), fit('lock', 'All locks', 'lock'), fit('lock', 'x', 'the lock'), fit('lock', 'x', 'locks'), fit('lock', 'Block', 'x'), fit('lock', 'x', 'Block'), fit('lock', 'x', 'y'),
  ];
  expect(ranks).toEqual(ranks.toSorted((a, b) => b - a));
  expect(new Set(ranks).size).toBe(ranks.length);
  expect(fit('lock safe', 'The lock of the safe')).toBeGreaterThan(fit('lock safe', 'The lock is unsafe'));
  expect(fit('lock safe', 'The lock')).toBe(0);
  expect(fit('CAFE', 'Book the café')).toBe(fit('', 'anything'));
});
