import { createTwoFilesPatch } from 'diff';
import { expect, test } from 'vitest';
import { parseDiff } from './diff';

/** Each line as its old number, its new number, its kind and its text. */
const drawn = (diff: string): string[] => parseDiff(diff).map((line) => [line.old ?? '', line.new ?? '', line.kind, line.text].join('|'));

test('a diff has the line numbers of both sides', () => {
  expect(parseDiff('@@ -41,3 +41,3 @@ f\n a\n-b\n+c\n d')).toEqual([
    { kind: 'head', old: null, new: null, text: '@@ -41,3 +41,3 @@ f' },
    { kind: 'same', old: 41, new: 41, text: 'a' },
    { kind: 'del', old: 42, new: null, text: 'b' },
    { kind: 'add', old: null, new: 42, text: 'c' },
    { kind: 'same', old: 43, new: 43, text: 'd' },
  ]);
});

test('a changed line that looks like a file header is a changed line', () => {
  expect(drawn('--- a/drop.sql\n+++ b/drop.sql\n@@ -1,3 +1,3 @@\n--- drop the old table\n+++ i;\n DROP TABLE t;\n-diff a b\n+index 1\n')).toEqual([
    '||head|--- a/drop.sql', '||head|+++ b/drop.sql', '||head|@@ -1,3 +1,3 @@',
    '1||del|-- drop the old table', '|1|add|++ i;', '2|2|same|DROP TABLE t;', '3||del|diff a b', '|3|add|index 1',
  ]);
});

test('a missing newline at the end is a note, not a line', () => {
  expect(drawn('@@ -1,2 +1,2 @@\n-a\n\\ No newline at end of file\n+b\n c\n')).toEqual(['||head|@@ -1,2 +1,2 @@', '1||del|a', '||note|\\ No newline at end of file', '|1|add|b', '2|2|same|c']);
});

test('every file of a diff begins its numbers anew, and what stands between hunks is kept', () => {
  const two = 'diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -5 +5 @@ f()\n-a\n+b\n\ndiff --git a/y b/y\nold mode 100644\nnew mode 100755\ndiff --git a/z b/z\nnew file mode 100644\n--- /dev/null\n+++ b/z\n@@ -0,0 +1 @@\n+c\nOnly in x: y';
  expect(drawn(two).filter((line) => !line.includes('|head|'))).toEqual(['5||del|a', '|5|add|b', '|1|add|c']);
  expect(parseDiff(two).map(({ kind, text }) => (kind === 'add' ? '+' : kind === 'del' ? '-' : '') + text).join('\n')).toBe(two);
});

test('an empty line within a hunk is an unchanged empty line', () => expect(drawn('@@ -1,3 +1,3 @@\n a\n\n-b\n+c')).toEqual(['||head|@@ -1,3 +1,3 @@', '1|1|same|a', '2|2|same|', '3||del|b', '|3|add|c']));

test('a text that is not a well-formed diff is shown line by line', () => {
  for (const text of [
    '@@ -1,9 +1,9 @@\n-a\n+b',
    '@@ -1 +1 @@\n-a\n+b\n+c\n d',
    '@@ nonsense @@\n-a\n+b',
    '--- a/x\n@@ -1 +1 @@\n-a\n+b',
    '@@ -1 +1 @@\n?a\n+b',
    'binary 20 bytes.\n- not a line',
  ]) expect(drawn(text)).toEqual(text.split('\n').map((line) => `||text|${line}`));
});

test('a diff of any two texts gives back both', () => {
  const texts = ['', '-- a\n', '-- a\n++ b\n', '@@ -1 +1 @@\n--- x\n+++ y', 'a\n\n\nb', '\\ No newline at end of file\n', 'one\r\ntwo\r\n'];
  for (const was of texts) {
    for (const is of texts) {
      const lines = parseDiff(createTwoFilesPatch('a', 'b', was, is));
      const side = (not: string): string => lines.filter(({ kind }) => kind === 'same' || (kind !== not && (kind === 'add' || kind === 'del'))).map(({ text }) => text).join('\n');
      if (was !== is) expect([side('add'), side('del')]).toEqual([was.replace(/\n$/, ''), is.replace(/\n$/, '')]);
    }
  }
});
