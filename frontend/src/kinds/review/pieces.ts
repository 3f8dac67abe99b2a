import { diffWordsWithSpace } from 'diff';
import type { Coloured } from './colours.svelte';

/** A piece of a line as it is drawn. */
export interface Piece {
  text: string;
  look: string;
  /** It differs from the line on the other side. */
  marked: boolean;
}

const longest = 600;

/** Where a line differs from its other side, as ranges of characters; nothing where hardly anything is the same. */
export function differences(line: string, other: string): [number, number][] {
  if (line === other || line.length > longest || other.length > longest) return [];
  const ranges: [number, number][] = [];
  let at = 0;
  let same = 0;
  for (const part of diffWordsWithSpace(other, line)) {
    if (part.removed) continue;
    const last = ranges.at(-1);
    if (part.added) {
      if (last && last[1] === at) last[1] += part.value.length;
      else ranges.push([at, at + part.value.length]);
    } else same += part.value.trim().length;
    at += part.value.length;
  }
  return same * 3 < Math.max(line.trim().length, other.trim().length) ? [] : ranges;
}

/** A line in pieces of one look each. */
export function piecesOf(line: string, coloured: readonly Coloured[] | undefined, marks: readonly [number, number][]): Piece[] {
  const known = coloured?.length && coloured.reduce((n, [text]) => n + text.length, 0) === line.length ? coloured : [[line, ''] as const];
  const pieces: Piece[] = [];
  let at = 0;
  for (const [text, look] of known) {
    const end = at + text.length;
    const cuts = [at, ...marks.flat().filter((cut) => cut > at && cut < end), end];
    for (let i = 1; i < cuts.length; i++) {
      const [from = 0, to = 0] = [cuts[i - 1], cuts[i]];
      if (to > from) pieces.push({ text: line.slice(from, to), look, marked: marks.some(([a, b]) => from >= a && to <= b) });
    }
    at = end;
  }
  return pieces;
}
