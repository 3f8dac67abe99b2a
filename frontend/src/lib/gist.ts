import type { Operation } from './wire';

/** What an answer said, or why there is none: the words a row of the history shows under its title. */
export function gist(op: Operation): string {
  const r = op.result;
  const parts = r ? [r.human_input, r.summary, r.execution_result, ...(r.key_findings ?? []), ...Object.entries(r.fields ?? {}).map(([k, v]) => `${k}: ${v}`)] : [op.ended?.reason];
  const said = parts.flatMap((part) => part?.replace(/\s+/g, ' ').trim() || []);
  // A summary often says again what the answer said: what another part contains is left out.
  return said.filter((part, i) => !said.some((other, k) => k !== i && other.includes(part) && (other !== part || k < i))).join(' · ');
}

export interface Piece {
  text: string;
  hit: boolean;
}

const around = 60;

/** A text cut to where the words that were searched for begin, with those words marked. */
export function marked(text: string, query: string): Piece[] {
  const words = query.trim().split(/\s+/).filter(Boolean);
  if (!words.length) return [{ text, hit: false }];
  const pattern = new RegExp(words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|'), 'giu');
  const first = text.search(pattern);
  const start = first > around ? first - around / 2 : 0;
  const shown = start ? '…' + text.slice(start) : text;
  const pieces: Piece[] = [];
  let at = 0;
  for (const match of shown.matchAll(pattern)) {
    if (match.index > at) pieces.push({ text: shown.slice(at, match.index), hit: false });
    pieces.push({ text: match[0], hit: true });
    at = match.index + match[0].length;
  }
  if (at < shown.length) pieces.push({ text: shown.slice(at), hit: false });
  return pieces;
}

/** Answered after its time was up: worth a word in the history. */
export function late(op: Operation): boolean {
  return !!op.expires_at && !!op.result && Date.parse(op.result.at) > Date.parse(op.expires_at);
}

