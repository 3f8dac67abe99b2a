import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { TeamBoard } from '../lib/wire';
import { TeamBoards } from './teamboard.svelte';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-11-30T12:00:00Z') }));
afterEach(() => void vi.useRealTimers());

/** A board before a server, and how often it was asked. */
function boardsOf(awake = () => true): { boards: TeamBoards; asked: ReturnType<typeof vi.fn<(zone: string) => Promise<TeamBoard>>> } {
  const asked = vi.fn((_zone: string) => Promise.resolve({ claimed: asked.mock.calls.length } as TeamBoard));
  return { boards: new TeamBoards({ teamBoard: asked }, awake), asked };
}

test('what happens has it read again, at most every ten seconds', async () => {
  const { boards, asked } = boardsOf();
  await boards.load();
  for (let i = 0; i < 5; i++) {
    boards.hear();
    await vi.advanceTimersByTimeAsync(1000);
  }
  expect(asked).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(5000);
  expect(asked).toHaveBeenCalledTimes(2);
  expect(boards.board?.claimed).toBe(2);
  await vi.advanceTimersByTimeAsync(29_000);
  expect(asked).toHaveBeenCalledTimes(2); // nothing happened
  boards.hear();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toHaveBeenCalledTimes(3);
});

test('it is read every half minute, while it is seen and until it is closed', async () => {
  let seen = true;
  const { boards, asked } = boardsOf(() => seen);
  await boards.load();
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toHaveBeenCalledTimes(2);
  seen = false;
  await vi.advanceTimersByTimeAsync(300_000);
  expect(asked).toHaveBeenCalledTimes(2);
  seen = true;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(asked).toHaveBeenCalledTimes(3);
  const last = boards.load();
  boards.close();
  await last;
  boards.hear();
  await vi.advanceTimersByTimeAsync(300_000);
  expect(asked).toHaveBeenCalledTimes(4);
});

test('figures stay when they cannot be read again, and it says so', async () => {
  const { boards, asked } = boardsOf();
  await boards.load();
  asked.mockRejectedValueOnce(new Error('no'));
  await boards.load();
  expect([boards.board?.claimed, boards.trouble !== '']).toEqual([1, true]);
  await boards.load();
  expect([boards.board?.claimed, boards.trouble]).toEqual([3, '']);
});
