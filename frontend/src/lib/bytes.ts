/** A run of plain text, or one character that a reader could overlook or mistake. */
export type Piece = { odd: false; text: string } | { odd: true; text: string; code: string; why: Oddness };

export type Oddness = 'control' | 'direction' | 'invisible' | 'space' | 'lookalike';

export interface Inspection {
  pieces: Piece[];
  /** Bytes in UTF-8. */
  length: number;
  /** How many characters are boxed, by reason. */
  counts: Partial<Record<Oddness, number>>;
}

const direction = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u;
const invisible = /[\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200d\u2060-\u2065\u206a-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb\u{1bca0}-\u{1bca3}\u{e0000}-\u{e0fff}]/u;
const space = /[\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/u;
const emoji = /\p{Extended_Pictographic}/u;

/** Letters of other alphabets that look like a Latin one, as one sees them in commands, paths and addresses. */
const lookalikes = new Set(
  'аеорсухіјѕԁһԛԝӏьАВЕКМНОРСТХІЈЅԌ' + 'αινορτυχγκΑΒΕΖΗΙΚΜΝΟΡΤΥΧ' + 'օոսցհքզԱՕՍ' + '‐‑‒–—−⁄∕∖ǃ։׃꞉‚‘’“”｜',
);
const fullWidth = /[\uff01-\uff5e]/u;
const latin = /[A-Za-z]/;

/** Whether a word mixes Latin letters with look-alikes of another alphabet; a word wholly in one is just a word. */
function mixes(word: string): boolean {
  return latin.test(word);
}

function oddness(char: string, word: string, prose: boolean): Oddness | null {
  const code = char.codePointAt(0) ?? 0;
  if (char === '\n' || char === '\t') return null;
  if (code < 0x20 || (code >= 0x7f && code < 0xa0)) return 'control';
  if (code >= 0xd800 && code <= 0xdfff) return 'control';
  if (direction.test(char)) return 'direction';
  if (invisible.test(char)) return emoji.test(word) ? null : 'invisible';
  if (space.test(char)) return prose && char === '\u3000' ? null : 'space';
  if (prose) return lookalikes.has(char) && /\p{L}/u.test(char) && mixes(word) ? 'lookalike' : null;
  if (fullWidth.test(char)) return 'lookalike';
  if (!lookalikes.has(char)) return null;
  return !/\p{L}/u.test(char) || mixes(word) ? 'lookalike' : null;
}

const hex = (char: string): string => 'U+' + (char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');

/**
 * Takes a text apart so that everything in it can be seen: controls, characters that turn the direction of reading,
 * invisible ones, unusual spaces, and letters of another alphabet among Latin ones. Full-width and typographic signs
 * count as look-alikes only where no Han, Kana or Hangul is written, because there they are ordinary, as they are in
 * `words`, which are sentences and no command.
 */
export function inspect(text: string, words = false): Inspection {
  const prose = words || /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u.test(text);
  const pieces: Piece[] = [];
  const counts: Partial<Record<Oddness, number>> = {};
  let plain = '';
  for (const word of text.split(/(?<=[ \t\n])|(?=[ \t\n])/u)) {
    for (const char of word) {
      const why = oddness(char, word, prose);
      if (!why) {
        plain += char;
        continue;
      }
      if (plain) pieces.push({ odd: false, text: plain });
      plain = '';
      pieces.push({ odd: true, text: char, code: hex(char), why });
      counts[why] = (counts[why] ?? 0) + 1;
    }
  }
  if (plain) pieces.push({ odd: false, text: plain });
  return { pieces, length: new TextEncoder().encode(text).length, counts };
}

/** How many characters an inspection boxed in all. */
export function oddCount(inspection: Inspection): number {
  return Object.values(inspection.counts).reduce((sum, n) => sum + n, 0);
}

/** A text as it can be drawn where there is no markup: whatever an inspection boxes stands as its code point. */
export function visible(text: string): string {
  return inspect(text, true).pieces.map((piece) => (piece.odd ? `[${piece.code}]` : piece.text)).join('');
}
