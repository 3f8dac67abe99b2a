import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Arming } from './arming.svelte';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('answers are dead for half a second, in five ticks', () => {
  const arming = new Arming();
  arming.start();
  expect([0, 100, 300, 99].map((ms) => (vi.advanceTimersByTime(ms), arming.count))).toEqual([0, 1, 4, 4]);
  expect(arming.armed).toBe(false);
  vi.advanceTimersByTime(1);
  expect(arming.armed).toBe(true);
});

test('what moves meanwhile begins anew', () => {
  const arming = new Arming();
  arming.start();
  vi.advanceTimersByTime(450);
  arming.start();
  vi.advanceTimersByTime(450);
  expect(arming.armed).toBe(false);
  vi.advanceTimersByTime(50);
  expect(arming.armed).toBe(true);
});
