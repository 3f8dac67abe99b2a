import { expect, test, vi } from 'vitest';
import type { Api } from '../backend/api';
import type { HitList } from '../lib/wire';
import { PaletteSearch, Recents } from './palette.svelte';

/** A server whose answers come when the test says so. */
function server(): { api: Api; asked: { q: string; limit: number; group: string; answer: (groups: HitList[]) => void }[] } {
  const asked: ReturnType<typeof server>['asked'] = [];
  const find = (q: string, limit: number, group: string): Promise<HitList[]> => new Promise((answer) => asked.push({ q, limit, group, answer }));
  return { api: { find } as unknown as Api, asked };
}
const groups = (title: string): HitList[] => [{ group: 'operations', count: 1, hits: [{ title, at: '2026-01-01T00:00:00Z' }] }];

test('an answer that was overtaken is dropped', async () => {
  vi.useFakeTimers();
  const { api, asked } = server();
  const search = new PaletteSearch(api, true);
  search.type('a');
  await vi.advanceTimersByTimeAsync(100);
  search.type('aw');
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.map(({ q }) => q)).toEqual(['a', 'aw']);
  asked[1]?.answer(groups('new'));
  await vi.advanceTimersByTimeAsync(0);
  asked[0]?.answer(groups('old'));
  await vi.advanceTimersByTimeAsync(0);
  expect(search.found.groups[0]?.hits[0]?.title).toBe('new');
  expect(search.searching).toBe(false);
  vi.useRealTimers();
});

test('the server is asked at a pause, and not for what it does not know', async () => {
  vi.useFakeTimers();
  const { api, asked } = server();
  const search = new PaletteSearch(api, true);
  for (const text of ['d', 'de', 'dep']) search.type(text);
  await vi.advanceTimersByTimeAsync(100);
  expect(asked.map(({ q }) => q)).toEqual(['dep']);
  search.type('> dep');
  search.type('  ');
  search.type('dep');
  search.choose('settings');
  search.choose('commands');
  await vi.advanceTimersByTimeAsync(100);
  expect(asked).toHaveLength(1);
  expect(search.searching).toBe(false);
  search.choose('operations');
  await vi.advanceTimersByTimeAsync(0);
  expect(asked.at(-1)).toMatchObject({ q: 'dep', limit: 50, group: 'operations' });
  const phone = new PaletteSearch(api, false);
  phone.type('dep');
  await vi.advanceTimersByTimeAsync(100);
  expect(asked).toHaveLength(2);
  vi.useRealTimers();
});

test('scopes go around', () => {
  const search = new PaletteSearch(server().api, true);
  search.turn(-1);
  expect(search.scope).toBe('commands');
  search.turn(1);
  expect(search.scope).toBe('all');
});

test.each([['nothing'], ['{'], ['{"a":1}'], ['[1,null,{"id":3}]']])('recents that cannot be read are begun anew: %s', (kept) => {
  const store = new Map([['deskbell.recent.mei', kept]]);
  vi.stubGlobal('localStorage', { getItem: (key: string) => store.get(key) ?? null, setItem: (key: string, value: string) => store.set(key, value) });
  const recents = new Recents('mei');
  expect(recents.list).toEqual([]);
  recents.add('a', 1);
  recents.add('b', 2);
  recents.add('a', 3);
  expect(new Recents('mei').list).toEqual([{ id: 'a', at: 3 }, { id: 'b', at: 2 }]);
  expect(new Recents('ann').list).toEqual([]);
  vi.unstubAllGlobals();
});
