import { byTime } from './time';
import type { Operation, Presence, Result, State, TimelineEvent } from './wire';

/**
 * Nothing changes an operation in a terminal state any more, nor one of a team that this desk left, nor, unless that is
 * undone, one whose answer or decline is about to leave.
 */
export function ended(op: Operation): boolean {
  return op.state === 'completed' || op.state === 'cancelled' || op.state === 'declined' || !!op.leaving || !!op.frozen;
}

/** The operation as it is once an answer or a decline that can still be undone has left. */
export function foreseen(op: Operation): Operation {
  if (op.leaving?.declined) return { ...op, state: 'declined', ended: { by: op.leaving.by, at: op.leaving.at, reason: op.leaving.declined } };
  return op.leaving ? { ...op, state: 'completed', result: { ...op.leaving, digest: op.digest } } : op;
}

/** It goes on after its answer: a task of it may still begin or runs. */
export function underWay(op: Operation): boolean {
  return !op.frozen && !!op.run && op.run.state !== 'stopped' && op.run.state !== 'finished';
}

/** Who gets the answer: the agent, or the member of the team who asked. */
export function asker(op: Operation): string {
  return op.to ? (op.requested_by ?? '') : op.agent_id;
}

/** Its end; undefined while it is open, and where it is frozen as that. */
export function endedAt(op: Operation): string | undefined {
  return op.result?.at ?? op.ended?.at ?? op.leaving?.at;
}

export function endedBy(op: Operation): string {
  return (op.result?.by ?? op.ended?.by ?? op.leaving?.by)?.name ?? '';
}

/** An answer in favour must be deliberate: no default, no single key. */
export function dangerous(op: Operation): boolean {
  return op.risk === 'high' || op.risk === 'critical';
}

/**
 * Whether a summary says more than the answer beside it. The server makes one of the answer's own parts where the
 * operator wrote none: right for an agent that reads nothing else, an echo on a page that shows all parts.
 */
export function summarySaysMore(result: Result): boolean {
  const rest = (result.summary ?? '')
    .replace(/^(Approved|Denied)(: |$)/, '')
    .replace(/(: |^)\d+ (fields? filled in|key findings?)/g, '')
    .replace(/…$/, '');
  return rest !== '' && ![result.human_input, result.execution_result].some((text) => text?.includes(rest));
}

export function snoozed(op: Operation, now: number): boolean {
  return !!op.snoozed_until && Date.parse(op.snoozed_until) > now;
}

/** Whether what was noted at a moment still counts: a request that was snoozed comes back as a new one. */
export function stands(op: Operation, noted: string | undefined, now: number): boolean {
  return !!noted && (!op.snoozed_until || snoozed(op, now) || Date.parse(noted) >= Date.parse(op.snoozed_until));
}

/** Whether somebody has looked at the request, wherever it was shown. */
export function looked(op: Operation, now: number): boolean {
  return op.deliveries?.some((d) => stands(op, d.seen_again ?? d.seen, now)) ?? false;
}

/** Since when the request waits to be seen, in ms: since it was sent, or came back from being snoozed. */
export function waitsSince(op: Operation): number {
  return Math.max(Date.parse(op.created_at), Date.parse(op.snoozed_until ?? '') || 0);
}

/** The agent has spoken last and nobody has begun to answer since. */
export function askedBack(op: Operation): boolean {
  const last = op.messages.at(-1);
  return op.state === 'in_progress' && last?.by.role === 'agent' && !(op.draft && byTime(op.draft.at, last.at) >= 0);
}

/** Whether an operation was handed over to a member of the team, who has to claim it. */
export function handedTo(op: Operation, member: string): boolean {
  return !!member && op.hand_over?.to === member;
}

/**
 * Whether an operation rings: it wants somebody now, and nobody has taken it. An overdue one waits but does not
 * ring any more, nor does one put off till later. `member` is who looks, in a team.
 */
export function rings(op: Operation, now: number, member = ''): boolean {
  if (ended(op) || op.overdue || snoozed(op, now) || op.others_asked) return false;
  if (handedTo(op, member)) return true;
  return op.state === 'pending' || askedBack(op);
}

/** Why others answer it: it is for one member alone; or two have to approve it, and one's own agent asked, or one was the first. Empty: this operator may. */
export function forOthers(op: Operation, operator: string, now: number): '' | 'one' | 'asked' | 'first' {
  if (op.to && op.to !== operator && !ended(op)) return 'one';
  if ((op.approvals_needed ?? 1) < 2 || ended(op)) return '';
  if (op.requested_by === operator) return 'asked';
  return op.approvals?.some((first) => first.by.name === operator && Date.parse(first.until) > now) ? 'first' : '';
}

/** An agent between two polls has not gone: silence counts after this many milliseconds. */
const silence = 30_000;

/** Where the agent is: still in contact, or gone since then; null when nothing is known. */
export function contact(op: Operation, presence: Presence | undefined, now: number): { here: true } | { here: false; since: string } | null {
  if (!presence || op.to) return null;
  if (presence.waiting) return { here: true };
  const spoke = op.messages.findLast((message) => message.by.role === 'agent')?.at ?? '';
  const since = [op.created_at, spoke, presence.last_contact ?? ''].sort((a, b) => (Date.parse(a) || 0) - (Date.parse(b) || 0)).at(-1) ?? op.created_at;
  return now - Date.parse(since) < silence ? { here: true } : { here: false, since };
}

/** The first line, cut to a length, for rows and titles. */
export function title(op: Operation, max = 200): string {
  const line = op.description.split('\n').map((s) => s.trim()).find(Boolean) ?? '';
  const letters = [...line];
  return letters.length > max ? letters.slice(0, max - 1).join('') + '…' : line;
}

/** An id short enough for a line; the end of it tells operations of one moment apart. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `${id.slice(0, id.indexOf('_') + 1)}…${id.slice(-5)}`;
}

/** Two letters that stand for a name: 'rb' for release-bot. */
export function initials(name: string): string {
  const words = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters = words.length > 1 ? words.slice(0, 2).map((w) => [...w][0]) : [...(words[0] ?? '?')].slice(0, 2);
  return letters.join('').toLowerCase();
}

/** Since when an operation is in the state its events have led to; '' without events. */
export function stateSince(events: readonly Pick<TimelineEvent, 'type' | 'at'>[]): string {
  const leads: Record<string, State> = { invoked: 'pending', released: 'pending', approved_first: 'pending', claimed: 'claimed', started: 'in_progress', asked: 'waiting_input' };
  let state: State | undefined;
  let at = '';
  for (const event of events) {
    let next = leads[event.type];
    if (event.type === 'replied' && state === 'waiting_input') next = 'in_progress';
    if ((event.type === 'input_saved' || event.type === 'held') && state !== 'waiting_input') next = 'in_progress';
    if (event.type === 'handed_over' && state === 'pending') next = 'claimed';
    if (!next || next === state) continue;
    state = next;
    at = event.at;
  }
  return at;
}
