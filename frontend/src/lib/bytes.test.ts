import { describe, expect, test } from 'vitest';
import { inspect, oddCount, visible } from './bytes';

const codes = (text: string): string[] => inspect(text).pieces.flatMap((piece) => (piece.odd ? [`${piece.why} ${piece.code}`] : []));

describe('what a reader could overlook is boxed', () => {
  test.each([
    ['a plain command has nothing odd', 'kubectl apply -f prod.yaml', []],
    ['tabs and line ends are ordinary', 'a\tb\nc', []],
    ['a carriage return hides what came before', 'rm -rf /\recho ok', ['control U+000D']],
    ['escape sequences', '\u001b[2J', ['control U+001B']],
    ['the direction of reading is turned', 'cp a\u202etxt.exe', ['direction U+202E']],
    ['zero width', 'pay\u200bpal', ['invisible U+200B']],
    ['tag characters', 'ls \u{e0041}', ['invisible U+E0041']],
    ['no-break space between words', 'rm\u00a0-rf', ['space U+00A0']],
    ['a Cyrillic a in a Latin word', 'rm .c\u0430che', ['lookalike U+0430']],
    ['a Greek omicron in a host', 'g\u03bfogle.com', ['lookalike U+03BF']],
    ['a slash that is none', 'a\u2215b', ['lookalike U+2215']],
    ['a full-width letter in a command', 'rm \uff52m', ['lookalike U+FF52']],
    ['a lone surrogate', 'a\ud800b', ['control U+D800']],
  ])('%s', (_, text, want) => expect(codes(text)).toEqual(want));
});

describe('what is ordinary is left alone', () => {
  test.each([
    ['a word wholly in Cyrillic', 'привет мир'],
    ['Chinese with its own punctuation', '删除旧文件，（共 3 个）：确认？'],
    ['an emoji with a joiner', '👩\u200d💻'],
    ['accents', 'café naïve'],
  ])('%s', (_, text) => expect(codes(text)).toEqual([]));
});

test('every character of the text is in the pieces, in order', () => {
  const text = 'a\u202eb\u200bc\n\u0007d';
  expect(inspect(text).pieces.map((piece) => piece.text).join('')).toBe(text);
});

test('length counts bytes, not letters', () => {
  expect(inspect('é').length).toBe(2);
  expect(inspect('删').length).toBe(3);
});

test('odd characters are counted by reason', () => {
  const seen = inspect('\u200b\u200b\u202e');
  expect(seen.counts).toEqual({ invisible: 2, direction: 1 });
  expect(oddCount(seen)).toBe(3);
});

test('in sentences typographic signs are ordinary, and what hides or turns is not', () => {
  expect(inspect('Read “Quota” – 8.4M', true).counts).toEqual({});
  expect(inspect('Read “Quota”').counts).toEqual({ lookalike: 2 });
  expect(inspect('safe\u202Etxt\u200B.\u0007', true).counts).toEqual({ direction: 1, invisible: 1, control: 1 });
});

test('stands in words where there is no markup', () => expect([visible('a\u202Eb'), visible('“plain” text')]).toEqual(['a[U+202E]b', '“plain” text']));
