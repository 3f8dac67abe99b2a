import { diffArrays } from 'diff';

/** A stretch of a text that is in both versions, only in the old, or only in the new. */
export interface Piece {
  kind: 'same' | 'del' | 'ins';
  text: string;
}

/** Texts with more changed words than this are shown as one replaced by the other. */
const most = 400;

const words = new Intl.Segmenter(undefined, { granularity: 'word' });
const split = (line: string): string[] => Array.from(words.segment(line), ({ segment }) => segment);
const wordless = (text: string): boolean => !/[\p{L}\p{N}]/u.test(text);

/** How a text was changed, word by word; texts that have little in common are one replaced by the other. */
export function wordDiff(was: string, is: string): Piece[] {
  const changes = diffArrays(split(was), split(is), { maxEditLength: most })?.map(({ value, added, removed }) => ({ text: value.join(''), added, removed }));
  const pieces: Piece[] = [];
  const add = (kind: Piece['kind'], text: string): void => {
    const last = pieces.at(-1);
    if (last?.kind === kind) last.text += text;
    else if (text) pieces.push({ kind, text });
  };
  let [del, ins] = ['', ''];
  const flush = (): void => {
    // Spaces and signs at the edges of a change are not changed themselves.
    const edge = (at: 0 | -1): string => (del.at(at) === ins.at(at) && wordless(del.at(at) ?? '') ? (del.at(at) ?? '') : '');
    let [head, tail] = ['', ''];
    for (let c = edge(0); c; c = edge(0)) [head, del, ins] = [head + c, del.slice(1), ins.slice(1)];
    for (let c = edge(-1); c; c = edge(-1)) [tail, del, ins] = [c + tail, del.slice(0, -1), ins.slice(0, -1)];
    add('same', head);
    add('del', del);
    add('ins', ins);
    add('same', tail);
    [del, ins] = ['', ''];
  };
  changes?.forEach(({ text, added, removed }, i) => {
    // A gap without a word between two changes is part of the change: it reads as one.
    const gap = wordless(text) && i > 0 && i < changes.length - 1;
    if (!added && !removed && !gap) {
      flush();
      add('same', text);
      return;
    }
    if (!added) del += text;
    if (!removed) ins += text;
  });
  flush();
  const kept = pieces.reduce((sum, piece) => sum + (piece.kind === 'same' ? piece.text.trim().length : 0), 0);
  if (was === is || (changes && kept * 3 >= Math.min(was.length, is.length))) return pieces;
  return [{ kind: 'del' as const, text: was }, { kind: 'ins' as const, text: is }].filter((piece) => piece.text);
}
