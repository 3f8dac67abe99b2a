import { ended, endedAt } from './life';
import { between } from './time';
import type { Operation, Risk } from './wire';

/** Kinds that are drawn in one shade: yes or no, plans, words, and what takes hands. */
export type Shade = 'approve' | 'plan' | 'words' | 'hands';
export const shades: readonly Shade[] = ['approve', 'plan', 'words', 'hands'];

/** The upper ends of the bars of the time to answer, in seconds; the last bar takes what is longer. */
export const bounds = [5, 15, 30, 60, 120, 300, 900, 3600] as const;

export interface Day {
  /** Midnight on the operator's clock, in milliseconds. */
  at: number;
  counts: Record<Shade, number>;
  total: number;
}

export interface Share {
  risk: Risk | '';
  yes: number;
  all: number;
}

export interface Statistics {
  days: Day[];
  rings: number;
  /** How many answers fell into each of `bounds`, and into what is longer. */
  times: number[];
  answers: number;
  /** Milliseconds; 0 without answers. */
  median: number;
  /** Nine in ten answers took at most this many milliseconds; 0 without answers. */
  ninth: number;
  /** Ended by their agent or their time limit, with nobody's answer. */
  unanswered: number;
  yes: number;
  decisions: number;
  shares: Share[];
}

function dayOf(at: number): number {
  return new Date(at).setHours(0, 0, 0, 0);
}

/** The value below which `part` of the sorted values lie: the nearest rank, never one between two. */
function rank(sorted: number[], part: number): number {
  return sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;
}

/** Counts what rang in the last `days` days of the operator's calendar, today included. */
export function statistics(operations: Iterable<Operation>, now: number, days: number, shadeOf: (op: Operation) => Shade): Statistics {
  const list: Day[] = [];
  for (let i = days - 1; i >= 0; i--) {
    const day = new Date(dayOf(now));
    day.setDate(day.getDate() - i);
    list.push({ at: day.getTime(), counts: { approve: 0, plan: 0, words: 0, hands: 0 }, total: 0 });
  }
  const byDay = new Map(list.map((day) => [day.at, day]));
  const took: number[] = [];
  const shares = new Map<Risk | '', Share>();
  const result: Statistics = {
    days: list, rings: 0, times: Array.from({ length: bounds.length + 1 }, () => 0), answers: 0, median: 0, ninth: 0, unanswered: 0, yes: 0, decisions: 0, shares: [],
  };
  for (const op of operations) {
    const day = byDay.get(dayOf(Date.parse(op.created_at)));
    if (!day) continue;
    day.counts[shadeOf(op)] += 1;
    day.total += 1;
    result.rings += 1;
    if (op.state === 'cancelled') result.unanswered += 1;
    else if (ended(op)) took.push(between(op.created_at, endedAt(op)));
    const decision = op.result?.decision;
    if (decision) {
      const risk = op.risk ?? '';
      const share = shares.get(risk) ?? { risk, yes: 0, all: 0 };
      shares.set(risk, share);
      share.all += 1;
      share.yes += decision === 'approve' ? 1 : 0;
      result.decisions += 1;
      result.yes += decision === 'approve' ? 1 : 0;
    }
  }
  took.sort((a, b) => a - b);
  for (const ms of took) {
    const bar = bounds.findIndex((bound) => ms <= bound * 1000);
    const at = bar < 0 ? bounds.length : bar;
    result.times[at] = (result.times[at] ?? 0) + 1;
  }
  const order: (Risk | '')[] = ['critical', 'high', 'medium', 'low', ''];
  return {
    ...result,
    answers: took.length,
    median: rank(took, 0.5),
    ninth: rank(took, 0.9),
    shares: order.flatMap((risk) => shares.get(risk) ?? []),
  };
}

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

