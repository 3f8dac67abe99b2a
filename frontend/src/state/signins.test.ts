import { expect, test, vi } from 'vitest';
import type { Live } from '../lib/wire';
import { SignIns } from './signins.svelte';

const signedIn = (of: object = {}): Live => ({ type: 'session', at: '2026-11-23T09:00:00Z', operator: 'mei', means: 'terminal', terminal: '/dev/pts/1', ...of }) as Live;

test('who signs in in a terminal is shown until it is closed; a code is not', () => {
  const all = new SignIns();
  all.hear(signedIn());
  all.hear(signedIn({ means: 'code', terminal: undefined }));
  all.hear(signedIn({ means: 'code', blocked: true }));
  all.hear({ type: 'hello', seq: 1, operator: 'mei' } as Live);
  expect(all.list.map((one) => [one.means, one.blocked])).toEqual([['terminal', undefined], ['code', true]]);
  for (const one of all.list.slice(0, 1)) all.close(one);
  expect(all.list).toHaveLength(1);
  for (let i = 0; i < 9; i++) all.hear(signedIn());
  expect(all.list).toHaveLength(5);
});

test('a code leaves the screen when one was used, or after ten minutes', () => {
  vi.useFakeTimers();
  const all = new SignIns();
  const [used, late, stopped] = [vi.fn(), vi.fn(), vi.fn()];
  all.hides(used);
  all.hear(signedIn({ blocked: true }));
  all.hear(signedIn());
  expect(used).not.toHaveBeenCalled();
  all.hear(signedIn({ means: 'code' }));
  expect(used).toHaveBeenCalledOnce();
  all.hides(late);
  all.hides(stopped)();
  vi.advanceTimersByTime(599_999);
  expect(late).not.toHaveBeenCalled();
  vi.advanceTimersByTime(1);
  all.hear(signedIn({ means: 'code' }));
  expect(late).toHaveBeenCalledOnce();
  expect(used).toHaveBeenCalledOnce();
  expect(stopped).not.toHaveBeenCalled();
  vi.useRealTimers();
});
