import { describe, expect, test } from 'vitest';
import { choices, field, lines, rest, sent, shape, wanted } from './details';
import type { JsonObject, Kind } from './wire';

const asks = (action_type: Kind, details: JsonObject | undefined) => ({ action_type, details });

describe('a value is drawn as what it looks like', () => {
  test.each([
    ['nothing', null, '', 'nothing'],
    ['an empty list', [], '', 'nothing'],
    ['a word', 'production', '', 'text'],
    ['two lines', 'a\nb', '', 'markdown'],
    ['a name that says code', 'x = 1', 'code_snippet', 'code'],
    ['a diff', '@@ -1,2 +1,2 @@\n-a\n+b', '', 'diff'],
    ['an address', 'https://example.com/a', '', 'link'],
    ['a script is no address', 'javascript:alert(1)', '', 'text'],
    ['yes or no', false, '', 'flag'],
    ['a number', 0, '', 'number'],
    ['a list', ['a', 'b'], '', 'list'],
    ['alike objects', [{ a: 1, b: 2 }, { a: 3, b: 4 }], '', 'table'],
    ['objects with little in common', [{ a: 1, b: 1, c: 1, d: 1 }, { e: 1 }, { f: 1 }], '', 'list'],
    ['objects in objects', [{ a: { b: 1 } }], '', 'list'],
    ['an object', { a: 1 }, '', 'object'],
  ])('%s', (_, value, name, want) => expect(shape(value as never, name).as).toBe(want));
});

test('choices come as words or as objects, under either name', () => {
  expect(choices(asks('feedback', { options: ['a', 2, { value: 'b', label: 'B', description: 'two' }, {}] }))).toEqual([
    { value: 'a', label: 'a', description: '' },
    { value: '2', label: '2', description: '' },
    { value: 'b', label: 'B', description: 'two' },
  ]);
  expect(choices(asks('feedback', { choices: ['x'] }))).toHaveLength(1);
  expect(choices(asks('feedback', { options: 'x' }))).toEqual([]);
  expect(choices(asks('feedback', undefined))).toEqual([]);
});

test('fields to extract come as names, objects, or a map of hints', () => {
  expect(wanted(asks('browser', { data_to_extract: ['a', { name: 'b', type: 'number', description: 'per month' }] }))).toEqual([
    { name: 'a', hint: '' },
    { name: 'b', hint: 'number, per month' },
  ]);
  expect(wanted(asks('browser', { data_to_extract: { total: 'a number' } }))).toEqual([{ name: 'total', hint: 'a number' }]);
  expect(wanted(asks('browser', { data_to_extract: 'total' }))).toEqual([{ name: 'total', hint: '' }]);
  expect(wanted(asks('browser', {}))).toEqual([]);
});

test('what no view has shown is left over, and nothing else', () => {
  expect(rest(asks('approve', { action: 'x', rollback: 'y', rollback_plan: 'z', ticket: 1, empty: null }), [])).toEqual([['rollback', 'y'], ['ticket', 1], ['empty', null]]);
});

test('lines are made of lists, words and objects', () => {
  expect(lines(['a', 1, { title: 't' }])).toEqual(['a', '1', 't']);
  expect(lines('one')).toEqual(['one']);
  expect(lines(null)).toEqual([]);
});

test('a field is read under any of its names, the first that says something', () => {
  expect(field(asks('browser', { why_human: 'a passkey' }), 'requires_human')).toBe('a passkey');
  expect(field(asks('review', { code_snippet: '', snippet: 'x' }), 'code_snippet')).toBe('x');
  expect(field(asks('feedback', { snippet: 'x' }), 'design')).toBeUndefined();
  expect(sent(asks('bash', { target_host: 'db1', target: 'prod' }), 'target')).toEqual([['target', 'prod'], ['target_host', 'db1']]);
  expect(sent(asks('bash', { why_human: 'a', why_agent_cant: 'b' }), 'why_agent_cant')).toEqual([['why_agent_cant', 'b']]);
});
