import { describe, expect, test } from 'vitest';
import { Acks, after, counts, EnterGuard, gutter, insertion, progress, seconds, shellMark, withCommand } from './terminal';
import type { TerminalCommand, TerminalState } from './wire';

const command = (id: string, more: Partial<TerminalCommand> = {}): TerminalCommand => ({ id, text: 'ls', folder: '/', started_at: '2026-01-01T00:00:00Z', output_lines: 0, ...more });
const ran = (id: string, exit_code: number, more: Partial<TerminalCommand> = {}): TerminalCommand => command(id, { ended_at: '2026-01-01T00:00:01Z', exit_code, ...more });

describe('a suggestion is typed and never run', () => {
  const plain = (text: string) => insertion(text, false);
  const pasted = (text: string) => insertion(text, true);
  const body = (made: ReturnType<typeof insertion>): string => ('typed' in made ? made.typed : made.refused);

  test('as it is where it is one line', () => {
    expect(plain('ls -l | wc')).toEqual({ typed: 'ls -l | wc', changed: false });
    expect(pasted('echo "é 你 🙂"')).toEqual({ typed: '\x1b[200~echo "é 你 🙂"\x1b[201~', changed: false });
  });
  test.each(['ls\n', 'ls\r\n', 'ls\r', '\nls', 'ls\n \n\t\n', ' \r\nls\r\n'])('%j without the ends of its lines', (text) => {
    expect(body(plain(text))).toBe('ls');
    expect(body(pasted(text))).toBe('\x1b[200~ls\x1b[201~');
  });
  test('a blank that is quoted at its end stays', () => expect(body(plain('cd My\\ \n'))).toBe('cd My\\ '));
  test.each(['ls\nrm -rf x', 'ls\rrm -rf x', 'ls\r\nrm', 'a \\\n  b'])('%j only where the shell takes it as text', (text) => {
    expect(plain(text)).toEqual({ refused: 'lines' });
    expect(body(pasted(text))).toMatch(/^\x1b\[200~[^\x1b\r]+\n[^\x1b\r]+\x1b\[201~$/);
  });
  test.each(['', '\n', ' \t\r\n '])('%j is nothing', (text) => expect(plain(text)).toEqual({ refused: 'empty' }));
  // Each of these would end the paste, run the line, erase it, complete it, suspend, or hide from the reader.
  test.each([
    '\x1b[201~rm -rf x', 'ls\x03', 'ls\x04', 'ls\x0f', 'ls\x1a', 'ls\x7f\x7f', 'ls\x08', 'ls\x15rm', 'ls\x9b201~', 'ls\x85rm', 'ls\x00', 'ls\x0brm', 'ls\x0crm', 'ls\u2028rm', 'ls\u202egnp', 'l\u200bs', 'ls\ufeff', 'ls\ud800',
  ])('%j with signs in the place of what steers', (text) => {
    for (const made of [plain(text), pasted(text)]) {
      expect(made).toHaveProperty('changed', true);
      expect(body(made).replace(/^\x1b\[200~|\x1b\[201~$/g, '')).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/u);
    }
  });
  test('a tab is a blank where it would complete', () => {
    expect(body(plain('a\tb'))).toBe('a b');
    expect(body(pasted('a\tb'))).toBe('\x1b[200~a\tb\x1b[201~');
  });
});

test.each([
  { name: 'nothing yet', commands: [], inserted: -1, is: { is: 'open' } },
  { name: 'another was run', commands: [ran('a1', 0, { suggestion: 1 })], inserted: -1, is: { is: 'open' } },
  { name: 'it stands at the prompt', commands: [], inserted: 0, is: { is: 'inserted' } },
  { name: 'it stands there again', commands: [ran('a1', 0, { suggestion: 0 })], inserted: 0, is: { is: 'inserted' } },
  { name: 'it runs', commands: [command('a1', { suggestion: 0 })], inserted: -1, is: { is: 'running' } },
  { name: 'it failed, then went well', commands: [ran('a1', 255, { suggestion: 0 }), ran('a2', 0, { suggestion: 0 })], inserted: -1, is: { is: 'run', exit: 0, edited: false } },
  { name: 'it was changed', commands: [ran('a1', 3, { suggestion: 0, edited: true })], inserted: 1, is: { is: 'run', exit: 3, edited: true } },
])('how far a suggestion got: $name', ({ commands, inserted, is }) => expect(progress(0, commands, inserted)).toEqual(is));

test('a command that ends takes the place of itself', () => {
  const before = [ran('a1', 0), command('a2')];
  expect(withCommand(before, ran('a2', 1)).map(({ id, exit_code }) => [id, exit_code])).toEqual([['a1', 0], ['a2', 1]]);
  expect(withCommand(before, command('a3'))).toHaveLength(3);
  expect(counts([ran('a1', 0), ran('a2', 255), command('a3')])).toEqual({ n: 3, failed: 1 });
});

test('events change what they are about, and nothing else', () => {
  const start = { running: true, recording_id: 'rec_1', commands: [command('a1')], suggestions: [], echo: true } as unknown as TerminalState;
  expect(after(start, { type: 'echo', on: false })).toEqual({ ...start, echo: false });
  expect(after(start, { type: 'state', running: false, exit_code: 1 })).toEqual({ ...start, running: false, exit_code: 1 });
  expect(after(start, { type: 'command', command: ran('a1', 0) }).commands).toEqual([ran('a1', 0)]);
  expect(after(start, { type: 'later' } as unknown as Parameters<typeof after>[1])).toBe(start);
});

test.each([
  ['A', { is: 'prompt' }], ['B', { is: 'input' }], ['C;aid=a12', { is: 'begin', id: 'a12' }], ['D;255;aid=a12', { is: 'end', id: 'a12' }],
  ['C', undefined], ['C;aid=', undefined], ['D;0', undefined], ['X;aid=a1', undefined], ['', undefined],
])('the mark %j', (body, is) => expect(shellMark(body)).toEqual(is));

test('the gutter stands beside the rows that are shown', () => {
  const commands = [ran('a1', 0), ran('a2', 1), command('a3')];
  const marks = [{ id: 'a1', line: 0, end: 2 }, { id: 'a2', line: 3, end: 9 }, { id: 'a3', line: 10 }, { id: 'gone', line: 4 }];
  const rows = (top: number, n: number) => gutter(marks, commands, top, n).map(({ command: { id }, top: at, rows: high }) => [id, at, high]);
  expect(rows(0, 24)).toEqual([['a1', 0, 3], ['a2', 3, 7], ['a3', 10, 1]]);
  expect(rows(2, 5)).toEqual([['a1', -2, 3], ['a2', 1, 7]]);
  expect(rows(3, 4)).toEqual([['a2', 0, 7]]);
  expect(rows(50, 10)).toEqual([]);
  expect(gutter([{ id: 'a1', line: -1, end: 4 }], commands, 0, 10)).toEqual([]);
});

test('what was drawn is acknowledged in steps, and all of it in the end', () => {
  const acks = new Acks();
  const sizes = [6000, 6000, 6000, 10, 20_000, 5];
  const said = sizes.map((n, i) => acks.drawn(n, i === 3 || i === 5));
  expect(said).toEqual([0, 0, 18_000, 10, 20_000, 5]);
});

describe('Enter that was meant for a button', () => {
  let now = 0;
  const guard = new EnterGuard(() => now);
  const press = (key: string, repeat = false): boolean => guard.lets({ key, repeat });
  test('runs nothing while it is held, or pressed twice', () => {
    expect(press('Enter')).toBe(true);
    guard.arm(500);
    expect(press('Enter', true)).toBe(false);
    now = 900;
    expect(press('Enter', true)).toBe(false);
    expect(press('Enter')).toBe(true);
    guard.arm(500);
    now = 1000;
    expect(press('Enter')).toBe(false);
    expect(press('a')).toBe(true);
    now = 1400;
    expect(press('Enter')).toBe(true);
  });
});

test.each([[0, '0.0'], [40, '0.0'], [449, '0.4'], [9949, '9.9'], [9950, '10'], [21_400, '21'], [3_600_000, '3600']])('%i ms reads %s', (ms, words) => expect(seconds(ms)).toBe(words));
