import type { Operation } from './wire';

/** Nothing changes an operation in a terminal state any more. */
export function ended(op: Operation): boolean {
  return op.state === 'completed' || op.state === 'cancelled' || op.state === 'declined';
}

export function endedAt(op: Operation): string | undefined {
  return op.result?.at ?? op.ended?.at;
}

export function endedBy(op: Operation): string {
  return (op.result?.by ?? op.ended?.by)?.name ?? '';
}

/** An answer in favour must be deliberate: no default, no single key. */
export function dangerous(op: Operation): boolean {
  return op.risk === 'high' || op.risk === 'critical';
}

export function snoozed(op: Operation, now: number): boolean {
  return !!op.snoozed_until && Date.parse(op.snoozed_until) > now;
}

/** The agent has spoken last and nobody has begun to answer since. */
export function askedBack(op: Operation): boolean {
  const last = op.messages.at(-1);
  return op.state === 'in_progress' && last?.by.role === 'agent' && !(op.draft && op.draft.at >= last.at);
}

/**
 * Whether an operation rings: it wants somebody now, and nobody has taken it. An overdue one waits but does not
 * ring any more, nor does one put off till later.
 */
export function rings(op: Operation, now: number): boolean {
  if (ended(op) || op.overdue || snoozed(op, now)) return false;
  return op.state === 'pending' || askedBack(op);
}

/** The first line, cut to a length, for rows and titles. */
export function title(op: Operation, max = 200): string {
  const line = op.description.split('\n').map((s) => s.trim()).find(Boolean) ?? '';
  const letters = [...line];
  return letters.length > max ? letters.slice(0, max - 1).join('') + '…' : line;
}

/** Two letters that stand for a name: 'rb' for release-bot. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? words.slice(0, 2).map((w) => [...w][0]) : [...(words[0] ?? '?')].slice(0, 2);
  return letters.join('').toLowerCase();
}
