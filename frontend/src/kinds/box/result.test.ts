import { expect, test } from 'vitest';
import { resultOf } from './result';

test('what was sent is read whatever it is: nothing that is not known is selected', () => {
  expect(resultOf(undefined)).toBeUndefined();
  expect(resultOf({ details: { command: 'make' } })).toBeUndefined();
  expect(resultOf({ details: { command: 1, files: [] } })).toBeUndefined();
  const result = resultOf({ details: { command: 'make', files: ['a', { path: 1 }, { path: 'b', warning: 'newer' }, { path: 'c', warning: 'leads_out', sizes: 'x' }, { path: 'd', diff: '--- a/d\n+++ b/d\n@@ -1,2 +1,2 @@\n a\n-b\n+++c\n' }], limits: [], lost: [1, 'e'] } });
  expect(result?.files.map(({ path, warning, sizes, added, removed }) => ({ path, warning, sizes, added, removed }))).toEqual([
    { path: '', warning: '', sizes: [0, 0], added: 0, removed: 0 },
    { path: 'b', warning: 'runs_by_itself', sizes: [0, 0], added: 0, removed: 0 },
    { path: 'c', warning: 'leads_out', sizes: [0, 0], added: 0, removed: 0 },
    { path: 'd', warning: '', sizes: [0, 0], added: 1, removed: 1 },
  ]);
  expect(result).toMatchObject({ lost: ['e'], limits: { seconds: 0 }, lines: 0, with: '' });
});
