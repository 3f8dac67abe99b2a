import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { compare, fieldsOf, movedOf, rowsOf, sameTasks, type Listed } from './diff';
import { wordDiff } from './worddiff';
import type { TaskChange } from '../../lib/planwire';

// The server's own test reads the same cases.
const cases = JSON.parse(readFileSync(new URL('../../../../backend/plan/testdata/changes.json', import.meta.url), 'utf8')) as { name: string; old: Listed[]; new: Listed[]; carried?: string[]; changes: TaskChange[] }[];

const list = (letters: string): Listed[] => [...letters].map((id) => ({ id, description: `task ${id}` }));

describe('what a list of tasks became', () => {
  it('is asked of enough cases', () => expect(cases.length).toBeGreaterThan(9));

  for (const { name, old, new: now, carried, changes } of cases) it(`is told as the server tells it: ${name}`, () => expect(compare(old, now, new Set(carried))).toEqual(changes));

  it('does not call it a change when the same arguments are written in another order', () => {
    const [a, b] = [{ a: 1, b: { c: 2, d: [3] } }, { b: { d: [3], c: 2 }, a: 1 }];
    expect(fieldsOf({ description: 'x', args: a }, { description: 'x', args: b })).toEqual([]);
    expect(sameTasks([{ id: 'x', description: 'x', args: a }], [{ id: 'x', description: 'x', args: b }])).toBe(true);
    expect(fieldsOf({ description: 'x', args: { list: [1, 2] } }, { description: 'x', args: { list: [2, 1] } })).toHaveLength(1);
  });

  it('takes a field that is absent for one that is empty, but arguments that are absent for none', () => {
    expect(fieldsOf({ description: 'x' }, { description: 'x', tool_name: '', priority: 0, expected_outcome: '' })).toEqual([]);
    expect(fieldsOf({ description: 'x' }, { description: 'x', args: {} })).toEqual([{ field: 'args', was: '', is: '{}' }]);
  });

  it('accounts for every task, however the list was shuffled', () => {
    let seed = 7;
    const random = (n: number): number => (seed = (seed * 1103515245 + 12345) & 0x7fffffff) % n;
    for (let round = 0; round < 300; round++) {
      const draw = (): Listed[] => list([...'abcdefgh'].filter(() => random(4) > 0).map((c) => [random(99), c] as const).sort(([a], [b]) => a - b).map(([, c]) => c).join(''));
      const [old, now] = [draw(), draw()];
      const changes = compare(old, now);
      const ids = (...kinds: string[]): string[] => changes.filter(({ change }) => kinds.includes(change)).map(({ id }) => id);
      // Carried out on the old list, the changes give the new one.
      const rest = old.filter(({ id }) => !ids('removed', 'moved').includes(id));
      const placed = new Map(changes.filter(({ change }) => change === 'added' || change === 'moved').map(({ to, id }) => [to, id]));
      expect(now.map((_, i) => placed.get(i + 1) ?? rest.shift()?.id)).toEqual(now.map(({ id }) => id));
      expect(rest).toEqual([]);
      // Told which of them moved, the server says the same.
      const carried = new Set([...'aceg'].filter(() => random(2)));
      const said = compare(old, now, carried);
      expect(compare(old, now, new Set(movedOf(said)))).toEqual(said);
    }
  });
});

describe('the rows of the editor', () => {
  const shown = (old: string, now: string): string[] => rowsOf(list(old), list(now)).map(({ task, place, moved }) => `${place || '-'}${task.id}${moved}`);

  it('shows what was taken out where it stood', () => {
    expect(shown('abcd', 'ad')).toEqual(['1a', '-b', '-c', '2d']);
    expect(shown('abc', 'bc')).toEqual(['-a', '1b', '2c']);
    expect(shown('ab', '')).toEqual(['-a', '-b']);
  });

  it('says which way a task went', () => {
    expect(shown('abc', 'cab')).toEqual(['1cup', '2a', '3b']);
    expect(shown('abc', 'bca')).toEqual(['1b', '2c', '3adown']);
    expect(shown('abc', 'cba')).toEqual(['1c', '2bon', '3adown']);
  });

  it('takes the one of two that a person took hold of for the moved one', () => {
    const carried = (id: string): string[] => rowsOf(list('abc'), list('acb'), compare(list('abc'), list('acb'), new Set([id]))).map(({ task, moved }) => task.id + moved);
    expect(carried('c')).toEqual(['a', 'cup', 'b']);
    expect(carried('b')).toEqual(['a', 'c', 'bdown']);
  });

  it('keeps a taken out task behind the one before it, wherever that went', () => expect(shown('abcd', 'cda')).toEqual(['1c', '2d', '3adown', '-b']));

  it('has what was added without a version before', () => {
    const [first, added] = rowsOf(list('a'), [...list('a'), { id: 'n', description: 'new' }]);
    expect([first?.was?.id, added?.was, added?.place]).toEqual(['a', undefined, 2]);
  });
});

describe('a changed text', () => {
  const told = (was: string, is: string): string => wordDiff(was, is).map(({ kind, text }) => ({ same: text, del: `[-${text}-]`, ins: `[+${text}+]` })[kind]).join('');

  it('is told word by word', () => {
    expect(told('Switch the connection string everywhere', 'Switch the connection string for billing-eu only')).toBe('Switch the connection string [-everywhere-][+for billing-eu only+]');
    expect(told('Dump billing', 'Dump billing first')).toBe('Dump billing[+ first+]');
    expect(told('Set billing read-only for nine minutes', 'Set billing-eu read-only for nine minutes')).toBe('Set billing[+-eu+] read-only for nine minutes');
    expect(told('Set billing read-only', 'Set billing-eu to read-only, then tell #billing')).toBe('Set billing[+-eu to+] read-only[+, then tell #billing+]');
  });

  it('reads as one change where only spaces and signs are between two', () => expect(told('move the old red box out', 'move the new blue box out')).toBe('move the [-old red-][+new blue+] box out'));

  it('is one text in place of another where they have little in common', () => expect(told('Drop the old cluster', 'Ask Ada for a review')).toBe('[-Drop the old cluster-][+Ask Ada for a review+]'));

  it('is told in Chinese, too', () => expect(told('切换连接串：所有位置', '切换连接串：仅 billing-eu')).toContain('切换连接串：'));

  it('is nothing where nothing was changed, and whole where all is new', () => {
    expect(wordDiff('same', 'same')).toEqual([{ kind: 'same', text: 'same' }]);
    expect(wordDiff('', 'new words')).toEqual([{ kind: 'ins', text: 'new words' }]);
    expect(wordDiff('', '')).toEqual([]);
  });

  it('always gives back both versions', () => {
    for (const [was, is] of [['a b c', 'b d  c'], ['x', ''], ['一二三 four', 'four 三'], ['a, b; c', 'a; b, c'], ['1 '.repeat(500), '2 '.repeat(500)]] as const) {
      const of = (not: string): string => wordDiff(was, is).filter(({ kind }) => kind !== not).map(({ text }) => text).join('');
      expect([of('ins'), of('del')]).toEqual([was, is]);
    }
  });
});
