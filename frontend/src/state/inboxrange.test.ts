import { beforeEach, describe, expect, test } from 'vitest';
import type { Api } from '../backend/api';
import { sampleOperation as op } from '../lib/sample.testing';
import type { Operation } from '../lib/wire';
import { Inbox } from './inbox.svelte';
import { Operations } from './operations.svelte';
import { sampleRoute } from './route.testing.svelte';

const names = ['a', 'b', 'c', 'd', 'e'];
let inbox: Inbox;
let all: Operations;
const one = (id: string): Operation => all.all.get(id) as Operation;
const selected = (): string[] => [...inbox.selected].sort();
const left = (): string[] => inbox.leftOut.map(({ op: { operation_id: id }, why }) => `${id} ${why}`);

beforeEach(() => {
  all = new Operations({} as Api);
  names.forEach((operation_id, i) => all.take(op({ operation_id, created_at: `2026-01-02T10:0${i}:00Z`, ...(operation_id === 'c' && { action_type: 'bash' }) })));
  inbox = new Inbox({} as Api, all, sampleRoute());
});

describe('a range', () => {
  test('begins at the row that was selected last, and leaves out another kind', () => {
    inbox.toggle(one('b'));
    inbox.range(one('e'), '');
    expect(selected()).toEqual(['b', 'd', 'e']);
    expect(left()).toEqual(['c kind']);
  });
  test('turns around at its beginning', () => {
    inbox.toggle(one('b'));
    inbox.range(one('d'), '');
    inbox.range(one('a'), '');
    expect(selected()).toEqual(['a', 'b']);
    expect(left()).toEqual([]);
  });
  test('keeps what was selected before it', () => {
    inbox.toggle(one('e'));
    inbox.toggle(one('a'));
    inbox.range(one('b'), '');
    expect(selected()).toEqual(['a', 'b', 'e']);
    inbox.range(one('a'), '');
    expect(selected()).toEqual(['a', 'e']);
  });
  test('begins at the open row where nothing is selected', () => {
    inbox.range(one('d'), 'c');
    expect(selected()).toEqual(['c']);
    expect(left()).toEqual(['d kind']);
    inbox.unselect();
    inbox.range(one('d'), 'a');
    expect(selected()).toEqual(['a', 'b', 'd']);
  });
  test('leaves out what has ended meanwhile', () => {
    all.take(op({ operation_id: 'b', version: 9, state: 'completed', result: { by: { role: 'operator' }, at: new Date().toISOString(), digest: '' } }));
    inbox.range(one('b'), 'a');
    expect(selected()).toContain('a');
    expect(left()).toContain('b ended');
  });
  test('is forgotten with the selection', () => {
    inbox.toggle(one('a'));
    inbox.range(one('e'), '');
    inbox.unselect();
    expect([selected(), left()]).toEqual([[], []]);
    inbox.range(one('e'), 'd');
    expect(selected()).toEqual(['d', 'e']);
  });
});

test('counts what each value would leave, the rest of the filter as it is', () => {
  expect([...inbox.counts('kind')].sort()).toEqual([['bash', 1], [one('a').action_type, 4]].sort());
  const filtered = new Inbox({} as Api, all, sampleRoute('kind=bash'));
  expect(filtered.rows.map((row) => row.operation_id)).toEqual(['c']);
  expect([filtered.all, filtered.counts('kind').size, filtered.counts('agent').get(one('c').agent_id)]).toEqual([5, 2, 1]);
});
