/** Scripts that are written without spaces: a word of theirs may begin at each character. */
const wordless = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]/u;
const inWord = /[\p{L}\p{N}]/u;

/** A text as it is compared: without case and accents. */
export const folded = (text: string): string => text.toLowerCase().normalize('NFD').replace(/\p{M}/gu, '').normalize('NFC');

/** How a word stands in a text, both folded: 3 as a word of its own, 2 at the beginning of a longer one, 1 inside one, 0 nowhere. */
export function standing(text: string, word: string): 0 | 1 | 2 | 3 {
  let best: 0 | 1 | 2 = 0;
  for (let at = text.indexOf(word); word && at >= 0; at = text.indexOf(word, at + 1)) {
    const before = [...text.slice(Math.max(0, at - 2), at)].at(-1) ?? '';
    const [after = ''] = text.slice(at + word.length, at + word.length + 2);
    if (wordless.test(word)) {
      if (!inWord.test(before)) return 3;
      best = 2;
    } else if (!inWord.test(before) || wordless.test(before)) {
      if (!inWord.test(after) || wordless.test(after)) return 3;
      best = 2;
    } else if (!best) best = 1;
  }
  return best;
}

/** The ranks of what is found; more is better. */
export const inside = 1, beginsWord = 3, beginsTitleWord = 5, titleWord = 6;

const ofTitle = [0, 2, beginsTitleWord, titleWord] as const;
const ofOthers = [0, inside, beginsWord, 4] as const;

/** How well a title and what stands beside it fit the words of a query: by the one that fits least; 0: one is missing. */
export function fit(query: string, title: string, ...others: string[]): number {
  const name = folded(title), rest = folded(others.join('\n'));
  return Math.min(...folded(query).split(/\s+/).filter(Boolean).map((word) => Math.max(ofTitle[standing(name, word)], ofOthers[standing(rest, word)])), titleWord);
}
