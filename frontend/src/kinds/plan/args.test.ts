import { expect, it } from 'vitest';
import { mainText, partsOf } from './args';

it('finds the one text that matters, by the shape of the arguments', () => {
  expect([mainText({ command: 'ls', timeout: 3 }), mainText({ sql: 'select 1' }), mainText({ path: 'a', mode: 'r' }), mainText({ n: 1 }), mainText(undefined)]).toEqual([{ name: 'command', text: 'ls' }, { name: 'sql', text: 'select 1' }, undefined, undefined, undefined]);
});

it('takes arguments apart, and leaves nothing out', () => {
  expect(partsOf({ command: 'ls' })).toEqual([{ as: 'command', name: 'command', text: 'ls' }]);
  expect(partsOf({ file: 'a', old_string: 'x', new_string: 'y' })).toEqual([{ as: 'json', text: '{"file":"a"}' }, { as: 'edit', was: 'x', is: 'y' }]);
  expect(partsOf({ oldText: 'x', newText: 'y', before: 'p', after: 'q' })).toEqual([{ as: 'edit', was: 'x', is: 'y' }, { as: 'edit', was: 'p', is: 'q' }]);
  expect(partsOf({ path: 'a', content: 'one\ntwo' })).toEqual([{ as: 'json', text: '{"path":"a"}' }, { as: 'text', name: 'content', text: 'one\ntwo' }]);
  expect([partsOf({}), partsOf({ old_string: 'x', holder: 'y' })]).toEqual([[{ as: 'json', text: '{}' }], [{ as: 'json', text: '{"old_string":"x","holder":"y"}' }]]);
});
