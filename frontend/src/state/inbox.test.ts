import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Api, Page, Query } from '../backend/api';
import { sampleOperation as op } from '../lib/sample.testing';
import type { Operation } from '../lib/wire';
import { Inbox } from './inbox.svelte';
import { Operations } from './operations.svelte';
import { sampleRoute } from './route.testing.svelte';

beforeEach(() => void vi.useFakeTimers({ now: new Date('2026-01-02T12:00:00Z') }));
afterEach(() => void vi.useRealTimers());

/** An inbox before a server that holds these operations and answers, newest first, at most `most` of them at a time. */
function inboxOf(all: Operation[], most: number): Inbox {
  const api = {
    operations: ({ state, q = '', limit = 50, cursor = '0' }: Query): Promise<Page> => {
      const open = (o: Operation): boolean => !/completed|declined|cancelled/.test(o.state);
      const found = all.toReversed().filter((o) => o.description.includes(q) && (state !== 'open' || open(o)));
      const end = Number(cursor) + Math.min(limit, most);
      return Promise.resolve({ operations: found.slice(Number(cursor), end), ...(end < found.length && { next: String(end) }) });
    },
  } as unknown as Api;
  const operations = new Operations(api);
  for (const one of all) operations.take(one);
  return new Inbox(api, operations, sampleRoute());
}

const many = (n: number, over: Partial<Operation>): Operation[] => Array.from({ length: n }, (_, i) => op({ operation_id: `${over.state}_${i}`, ...over }));
const search = async (inbox: Inbox, query: string): Promise<string[]> => {
  inbox.search(query);
  await vi.advanceTimersByTimeAsync(1000);
  return inbox.rows.map((row) => row.operation_id);
};

test('a search finds what is open, however much that ended says the same', async () => {
  const old = op({ operation_id: 'old', description: 'a zebra' });
  const inbox = inboxOf([old, ...many(150, { description: 'a zebra', state: 'completed', updated_at: '2025-01-01T00:00:00Z' })], 500);
  expect(await search(inbox, 'zebra')).toEqual(['old']);
});

test('a search finds all that is open, on every page of the answer', async () => {
  const inbox = inboxOf([...many(25, { description: 'a zebra', state: 'pending' }), op({ description: 'a lion' })], 10);
  expect(await search(inbox, 'zebra')).toHaveLength(25);
});

test('a search finds a plan that runs: it can still be stopped', async () => {
  const run = { state: 'running', tasks: [], orders: [] } as unknown as Operation['run'];
  const inbox = inboxOf([op({ operation_id: 'plan', action_type: 'plan', description: 'Move the Zebra', state: 'completed', run })], 10);
  expect(await search(inbox, 'zebra')).toEqual(['plan']);
});
