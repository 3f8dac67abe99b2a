import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { CodeComment, JsonObject } from '../../lib/wire';
import { changeOf, filesOf, side, suggested, type ChangedFile } from './change';
import { differences, piecesOf } from './pieces';
import { keyOf, large, rowsOf, treeOf, type Drawing, type Row } from './rows';
import { suggestedVerdict } from './verdicts';

const top = mkdtempSync(path.join(tmpdir(), 'review-'));
afterAll(() => rmSync(top, { recursive: true }));

function git(...args: string[]): string {
  const env = { ...process.env, HOME: top, GIT_CONFIG_NOSYSTEM: '1', GIT_AUTHOR_NAME: 'a', GIT_AUTHOR_EMAIL: 'a@b', GIT_COMMITTER_NAME: 'a', GIT_COMMITTER_EMAIL: 'a@b' };
  return execFileSync('git', args, { cwd: top, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 26 });
}

/** The same numbers in each run. */
function random(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A text after the hunks of a file, and whether each line was where it was said to be. */
function applied(before: string, file: ChangedFile): string {
  const had = before === '' ? [] : before.replace(/\n$/, '').split('\n');
  let ends = before === '' || before.endsWith('\n');
  const out: string[] = [];
  let at = 0;
  for (const hunk of file.hunks) {
    while (at < hunk.old - 1) out.push(had[at++] ?? '');
    expect(out.length, `place of a hunk of ${file.path}`).toBe(hunk.new - 1);
    let open = false;
    hunk.lines.forEach((line, i) => {
      const of = side(line);
      if (of === 'note') open ||= side(hunk.lines[i - 1] ?? '') !== 'old';
      if (of === 'old' || of === 'both') expect(had[at++], `line ${at} of ${file.path}`).toBe(line.slice(1));
      if (of === 'new' || of === 'both') out.push(line.slice(1));
    });
    // Only a hunk that has the last line says how the file ends.
    if (at === had.length) ends = !open;
  }
  while (at < had.length) out.push(had[at++] ?? '');
  return out.length ? out.join('\n') + (ends ? '\n' : '') : '';
}

const drawing = (more: Partial<Drawing> = {}): Drawing => ({ split: false, blanks: false, closed: new Set(), loaded: new Set(), open: new Set(), texts: new Map(), comments: [], ...more });

describe('what git writes of random edits', () => {
  const names = ['a.ts', 'with space.txt', 'ünï/cødé.md', 'tab\tin.txt', 'quo"te\\.txt', '-dash', 'b/b.go', '中文.txt'];
  const words = ['same', '-- old', '++ new', '--- a/x', '+++ b/x', '@@ -1,2 +1,2 @@', 'diff --git a/x b/x', '\\ No newline at end of file', '', ' lead', 'Binary files differ', 'index 000..111'];

  test.each([1, 2, 3, 4, 5, 6, 7, 8])('seed %i: applied to the text before, it gives the text after', (seed) => {
    const next = random(seed);
    const text = (): string => {
      const end = next(4) === 0 ? '\r\n' : '\n';
      const lines = Array.from({ length: next(60) }, () => `${words[next(words.length)]} ${next(4)}`);
      return lines.length ? lines.join(end) + (next(3) ? end : '') : '';
    };
    rmSync(path.join(top, '.git'), { recursive: true, force: true });
    for (const name of names) rmSync(path.join(top, name), { force: true });
    const write = (name: string, content: string): void => {
      mkdirSync(path.dirname(path.join(top, name)), { recursive: true });
      writeFileSync(path.join(top, name), content);
    };
    git('init', '-q');
    const before = new Map(names.filter(() => next(4)).map((name) => [name, text()]));
    before.forEach((content, name) => write(name, content));
    write('keep', 'kept\n');
    git('add', '-A');
    git('commit', '-qm', 'before');
    const after = new Map<string, string>();
    for (const name of names) {
      const had = before.get(name);
      const how = next(5);
      if (had !== undefined && how === 0) {
        rmSync(path.join(top, name));
        continue;
      }
      // A few lines of it change, so that there are several hunks, or all.
      const content = had === undefined || how === 1 ? text() : had.split('\n').map((line) => (next(9) === 0 ? `${line}!` : line)).join('\n');
      if (had === undefined && how === 2) continue;
      after.set(name, content);
      write(name, content);
    }
    git('add', '-A');
    const options = [[], ['--no-prefix'], ['-U0'], ['-U10'], ['-c', 'x.y=1']][next(4)] ?? [];
    const diff = git('-c', `core.quotePath=${next(2) ? 'true' : 'false'}`, 'diff', '--cached', '--full-index', '--no-renames', ...options);
    const files = filesOf(diff);
    const changed = names.filter((name) => before.get(name) !== after.get(name));
    expect(files.map(({ path: of }) => of).toSorted()).toEqual(changed.toSorted());
    for (const file of files) {
      expect(file.text).toBe('');
      expect(file.status).toBe(!before.has(file.path) ? 'added' : !after.has(file.path) ? 'deleted' : 'changed');
      expect(applied(before.get(file.path) ?? '', file), file.path).toBe(after.get(file.path) ?? '');
    }
  });

  test('renames, modes, binary files and files that only moved', () => {
    rmSync(path.join(top, '.git'), { recursive: true, force: true });
    git('init', '-q');
    writeFileSync(path.join(top, 'moved.txt'), 'one\ntwo\nthree\nfour\nfive\nsix\n');
    writeFileSync(path.join(top, 'run.sh'), 'x\n');
    writeFileSync(path.join(top, 'data.bin'), Buffer.from([0, 1, 2, 0]));
    git('add', '-A');
    git('commit', '-qm', 'before');
    git('mv', 'moved.txt', 'to here.txt');
    writeFileSync(path.join(top, 'to here.txt'), 'one\ntwo\nthree\n4\nfive\nsix\n');
    git('mv', 'keep', 'kept');
    git('update-index', '--chmod=+x', 'run.sh');
    writeFileSync(path.join(top, 'data.bin'), Buffer.from([0, 9, 9, 0]));
    git('add', 'to here.txt', 'data.bin');
    const files = Object.fromEntries(filesOf(git('diff', '--cached', '--full-index', '-M')).map((file) => [file.path, file]));
    expect(files['to here.txt']).toMatchObject({ status: 'renamed', was: 'moved.txt', added: 1, removed: 1 });
    expect(files.kept).toMatchObject({ status: 'renamed', was: 'keep', hunks: [] });
    expect(files['run.sh']).toMatchObject({ modes: '100644 → 100755', hunks: [] });
    expect(files['data.bin']).toMatchObject({ binary: true, hunks: [] });
    expect(rowsOf(Object.values(files), drawing()).filter(({ kind }) => kind === 'load')).toHaveLength(1);
  });
});

describe('what is no diff of git', () => {
  test('a plain diff of several files, with what stands around it', () => {
    const diff = 'Only in b: x\n--- a/one.txt\t2026-01-01\n+++ b/one.txt\t2026-01-02\n@@ -1 +1 @@ here\n-a\n+b\ndiff -u a/two.txt b/two.txt\n--- a/two.txt\n+++ b/two.txt\n@@ -0,0 +1,2 @@\n+c\n+d\n';
    expect(filesOf(diff).map(({ path: of, added, removed }) => [of, added, removed])).toEqual([['one.txt', 1, 1], ['two.txt', 2, 0]]);
  });

  test('a mail of git format-patch', () => {
    const mail = 'From abc Mon Sep 17\nSubject: [PATCH] x\n\n---\n a | 2 +-\n 1 file changed\n\ndiff --git a/a b/a\nindex 1..2 100644\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n-- \n2.47.0\n\n';
    expect(filesOf(mail).at(-1)).toMatchObject({ path: 'a', added: 1, removed: 1, text: '' });
  });

  test('a combined diff and one that does not count right are drawn as text, and the files beside them are read', () => {
    const combined = 'diff --cc x.txt\nindex 1,2..3\n--- a/x.txt\n+++ b/x.txt\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n';
    const wrong = 'diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1,5 +1,1 @@\n-a\n+b\n';
    const right = 'diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n';
    expect(filesOf(combined + wrong + right).map(({ path: of, text, added }) => [of, text, added])).toEqual([['x.txt', 'combined', 0], ['a/y b/y', 'unread', 0], ['z', '', 1]]);
    expect(filesOf('just words\n')[0]).toMatchObject({ text: 'unread', hunks: [{ lines: [' just words'] }] });
  });
});

describe('forms that agents send', () => {
  const of = (details: JsonObject): ChangedFile[] => changeOf({ action_type: 'review', details });
  test.each<[string, JsonObject, unknown[]]>([
    ['one diff', { diff: '--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n+y\n' }, [['a', 'changed', 1, 1]]],
    ['a diff without a name', { patch: '@@ -1 +1 @@\n-x\n+y', file: 'b.go' }, [['b.go', 'changed', 1, 1]]],
    ['texts before and after', { file_path: 'c.ts', original: 'a\nb\n', modified: 'a\nc\n' }, [['c.ts', 'changed', 1, 1]]],
    ['a new text', { file_path: 'd.ts', after: 'a\nb\n' }, [['d.ts', 'added', 2, 0]]],
    ['code', { code_snippet: 'x := 1\ny := 2', file_path: 'e.go' }, [['e.go', 'code', 0, 0]]],
    ['files', { files: [{ path: 'f', diff: '@@ -1 +1 @@\n-x\n+y' }, { filename: 'g', old: 'a', new: 'b' }, 'h', { name: 'i', content: 'z' }] }, [['f', 'changed', 1, 1], ['g', 'changed', 1, 1], ['h', 'named', 0, 0], ['i', 'code', 0, 0]]],
    ['files by name', { files: { 'j.txt': '@@ -1 +1 @@\n-x\n+y' } }, [['j.txt', 'changed', 1, 1]]],
  ])('%s', (_, details, want) => {
    expect(of(details).map((file) => [file.path, file.status, file.added, file.removed])).toEqual(want);
  });

  test('what else was sent with a file is kept', () => {
    expect(of({ files: [{ path: 'a', patch: '@@ -1 +1 @@\n-x\n+y', additions: 1 }] })[0]?.others).toEqual([['additions', 1]]);
  });
});

describe('rows', () => {
  const before = Array.from({ length: 60 }, (_, i) => `line ${i + 1}`);
  const after = before.map((line, i) => (i === 20 || i === 40 ? `${line} changed` : line));
  const [file] = changeOf({ action_type: 'review', details: { file_path: 'a.ts', before: `${before.join('\n')}\n`, after: `${after.join('\n')}\n` } });
  const texts = new Map([[0, before]]);
  const numbers = (rows: Row[], on: 'old' | 'new'): number[] => rows.flatMap((row) => (row.kind === 'line' && row[on] ? [row[on].n] : []));

  test.each([false, true])('unchanged lines unfold until every line is there, side by side %s', (split) => {
    if (!file) throw new Error('no file');
    const folded = rowsOf([file], drawing({ split, texts }));
    const folds = folded.flatMap((row) => (row.kind === 'fold' ? [row] : []));
    expect(folds.map(({ lines }) => lines)).toEqual([17, 13, 16]);
    const all = rowsOf([file], drawing({ split, texts, open: new Set(['0:0', '0:1', '0:2']) }));
    for (const on of ['old', 'new'] as const) expect(numbers(all, on)).toEqual(before.map((_, i) => i + 1));
  });

  test.each([false, true])('each row has a key of its own and keeps it while others come, side by side %s', (split) => {
    if (!file) throw new Error('no file');
    const [other] = filesOf('--- a/b\n+++ b/b\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+y\n\\ No newline at end of file\n@@ -1 +1 @@\n-x\n+z\n');
    if (!other) throw new Error('no file');
    const comments: CodeComment[] = [{ file: 'a.ts', line: 21, side: 'new', text: 'x' }];
    const keys = (more: Partial<Drawing>): string[] => rowsOf([file, other], drawing({ split, texts, comments, ...more })).map(keyOf);
    const all = keys({ open: new Set(['0:0', '0:1', '0:2']) });
    expect(new Set(all).size).toBe(all.length);
    expect(all).toEqual(expect.arrayContaining(keys({})));
  });

  test('comments stand below their lines; what is folded away does not lose them', () => {
    if (!file) throw new Error('no file');
    const comments: CodeComment[] = [{ file: 'a.ts', line: 21, side: 'new', text: 'x' }, { file: 'a.ts', line: 2, end_line: 4, side: 'old', text: 'y' }];
    const rows = rowsOf([file], drawing({ texts, comments }));
    const at = rows.findIndex((row) => row.kind === 'comment' && row.index === 0);
    expect(rows[at - 1]).toMatchObject({ kind: 'line', new: { n: 21, sign: '+' } });
    expect(rows[1]).toMatchObject({ kind: 'comment', index: 1 });
  });

  test('a large file is one row until it is loaded', () => {
    const [much] = changeOf({ action_type: 'review', details: { diff: `--- a/a\n+++ b/a\n@@ -0,0 +1,${large + 1} @@\n${'+x\n'.repeat(large + 1)}` } });
    if (!much) throw new Error('no file');
    expect(rowsOf([much], drawing()).map(({ kind }) => kind)).toEqual(['file', 'load']);
    expect(rowsOf([much], drawing({ loaded: new Set([0]) })).length).toBeGreaterThan(large);
  });

  test('the tree has each file once, below its folder', () => {
    expect(treeOf([{ path: 'z.md' }, { path: 'src/b.ts' }, { path: 'src/a.ts' }, { path: 'lib/x/y.ts' }]).map(({ name, depth, file: at }) => [name, depth, at])).toEqual([
      ['lib/x', 0, -1], ['y.ts', 1, 3], ['src', 0, -1], ['b.ts', 1, 1], ['a.ts', 1, 2], ['z.md', 0, 0],
    ]);
  });
});

test.each([
  [3, ['good', 'good', 'good'], 'approve'],
  [3, ['good', 'good'], 'comment'],
  [3, ['good', 'problem'], 'request_changes'],
  [2, ['good', 'unsure'], 'comment'],
  [0, [], 'comment'],
])('%i areas, found %j: %s', (areas, found, want) => {
  expect(suggestedVerdict(areas, found.map((verdict) => ({ verdict })))).toBe(want);
});

describe('words that differ', () => {
  test('are marked, and hardly similar lines are not', () => {
    expect(differences('return this.isFresh();', 'return this.expiresAt;').map(([from, to]) => 'return this.isFresh();'.slice(from, to)).join('|')).toContain('isFresh');
    expect(differences('abc def', 'xyz uvw')).toEqual([]);
  });
  test('the pieces of a line are the line', () => {
    const line = 'const a = "b"; // c';
    for (const coloured of [undefined, [['const', 'k'], [' a = ', ''], ['"b"', 'st'], ['; ', ''], ['// c', 'co']] as const]) {
      expect(piecesOf(line, coloured, [[2, 9], [11, 14]]).map(({ text }) => text).join('')).toBe(line);
    }
  });
});

test('suggestions give the text they say, whatever their order', () => {
  const at = (line: number, suggestion: string, last?: number): CodeComment => ({ file: 'a', side: 'new', line, ...(last && { end_line: last }), text: '', suggestion });
  const comments = [at(2, 'TWO\nAND A HALF'), at(4, '', 5), at(6, 'SIX'), { file: 'a', side: 'new', line: 1, text: 'only words' } satisfies CodeComment];
  expect(suggested('1\n2\n3\n4\n5\n6\n', comments)).toBe('1\nTWO\nAND A HALF\n3\nSIX\n');
  expect(suggested('1\n2', [at(2, 'two')])).toBe('1\ntwo');
  expect(suggested('1\r\n2\r\n', [at(1, 'one\nand')])).toBe('one\r\nand\r\n2\r\n');
});

describe('whitespace is ignored', () => {
  const shown = (rows: Row[], side: 'old' | 'new'): string[] => rows.flatMap((row) => (row.kind === 'line' && row[side] ? [(row[side].chunk[row[side].at] ?? '').slice(1)] : []));
  const changed = (rows: Row[]): string[] => rows.flatMap((row) => (row.kind === 'line' ? [row.old, row.new].flatMap((line) => (line?.sign ? [line.sign + (line.chunk[line.at] ?? '').slice(1)] : [])) : []));

  test('a line that was only indented is no change, also between others that are', () => {
    const files = filesOf('--- a/a.go\n+++ b/a.go\n@@ -1,4 +1,6 @@\n-a()\n-b()\n-c()\n+if x {\n+\ta()\n+\tb2()\n+\tc()\n+}\n d\n');
    for (const split of [false, true]) expect(changed(rowsOf(files, drawing({ split, blanks: true })))).toEqual(['+if x {', '-b()', '+\tb2()', '+}']);
  });

  test('no line is lost, and none that differs in more is hidden', () => {
    const next = random(20261126);
    for (let round = 0; round < 200; round++) {
      const before = Array.from({ length: 1 + next(12) }, () => `${'  '.repeat(next(3))}v${next(4)} = ${next(3)}`);
      const after = before.flatMap((line) => [[line], [], [`\t${line.trim()} `], [`${line}!`], [line.replace(' = ', '=')], [`new ${next(9)}`, line]][next(6)] ?? []);
      const diff = `--- a/a\n+++ b/a\n@@ -1,${before.length} +1,${after.length} @@\n${before.map((line) => `-${line}\n`).join('')}${after.map((line) => `+${line}\n`).join('')}`;
      for (const split of [false, true]) {
        const rows = rowsOf(filesOf(diff), drawing({ split, blanks: true }));
        expect(shown(rows, 'old')).toEqual(before);
        expect(shown(rows, 'new')).toEqual(after);
        for (const row of rows) if (row.kind === 'line' && row.old && row.new && !row.old.sign) expect(shown([row], 'old')[0]?.replace(/\s/g, '')).toBe(shown([row], 'new')[0]?.replace(/\s/g, ''));
      }
    }
  });
});
