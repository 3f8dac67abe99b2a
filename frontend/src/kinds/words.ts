import { ended, endedAt, foreseen, title } from '../lib/life';
import type { Operation, TimelineEvent } from '../lib/wire';
import { verdictOf } from '../state/workverdict';
import { m } from '../paraglide/messages';
import { moment } from '../state/moment';
import { sentence } from '../state/sentences.svelte';
import { channelWord } from '../state/wording';
import { kindOf } from './index';
import type { By } from './kind';

/** The words of an operation that its kind has a say in. */

export const kindWord = (name: string): string => kindOf({ action_type: name }).label();

/** What an operation is about, in a line. */
export function nameOf(op: Operation, max = 200): string {
  const line = kindOf(op).title?.(op) || title(op, max);
  return line.length > max ? [...line].slice(0, max - 1).join('') + '…' : line;
}

/** What the user told the agent to do, in the user's words, where the agent sent it; '' where it did not. */
export function userTask(op: Operation): string {
  const task = kindOf(op).task?.(op) ?? op.context?.task;
  return typeof task === 'string' ? task.trim() : '';
}

/** Who rings, and from where. */
export function callerOf(op: Operation): string {
  const { place } = kindOf(op);
  const from = place ? place(op) : op.session_id;
  return from ? m.agent_session({ agent: op.agent_id, session: from }) : op.agent_id;
}

/** What came of an operation, in a word. */
export function outcomeWord(of: Operation): string {
  const op = foreseen(of);
  if (op.frozen && !endedAt(op)) return m.outcome_frozen();
  const own = ended(op) && kindOf(op).outcome?.(op);
  if (own) return own;
  if (op.state === 'completed') {
    if (op.result?.decision === 'approve') return m.outcome_approved();
    if (op.result?.decision === 'deny') return m.outcome_denied();
    const verdict = verdictOf(op.result?.verdict);
    if (verdict) return verdict.outcome();
    return m.outcome_answered();
  }
  if (op.state === 'cancelled') return op.ended?.by.role === 'system' ? m.outcome_timeout() : m.outcome_cancelled();
  if (op.state === 'declined') return m.outcome_declined();
  return stateWord(op);
}

export function stateWord(op: Operation): string {
  switch (op.state) {
    case 'pending':
      return m.state_pending();
    case 'claimed':
      return m.state_claimed();
    case 'in_progress':
      return m.state_in_progress();
    case 'waiting_input':
      return m.state_waiting_input();
    default:
      return outcomeWord(op);
  }
}

/** What ended an operation, in a sentence. */
export function endSentence(of: Operation, name: string, time: string): string {
  const op = foreseen(of);
  const { ending } = kindOf(op);
  if (ending) return ending(op, name, time);
  if (op.result?.decision === 'approve') return m.ended_approved_by({ name, time });
  if (op.result?.decision === 'deny') return m.ended_denied_by({ name, time });
  const verdict = verdictOf(op.result?.verdict);
  if (verdict) return verdict.ended({ name, time });
  if (op.result) return m.ended_answered_by({ name, time });
  if (op.state === 'declined') return m.ended_declined_by({ name, time });
  return op.ended?.by.role === 'system' ? m.ended_timeout({ time }) : m.ended_cancelled_by({ name, time });
}

/** One event of a timeline, as a sentence. */
export function eventSentence(event: TimelineEvent, operator: string, op: Operation): string {
  const name = event.by.name || m.the_system();
  const mine = event.by.role === 'operator' && event.by.name === operator;
  const by: By = (own, other) => (mine ? own() : other({ name }));
  const channel = channelWord(event.data.channel ?? '');
  const own = kindOf(op).event?.(event, op, by);
  if (own) return own;
  switch (event.type) {
    case 'invoked':
      return m.ev_invoked();
    case 'claimed':
      return by(m.claimed_by_you, m.claimed_by);
    case 'released':
      return by(m.ev_released_you, m.ev_released);
    case 'handed_over': {
      const { to = '', text: note } = event.data;
      return note ? m.ev_handed_over_note({ name, to, note }) : m.ev_handed_over({ name, to });
    }
    case 'approved_first':
      return by(m.ev_approved_first_you, m.ev_approved_first);
    case 'routed':
      return m.ev_routed({ names: event.data.routing?.names?.join(m.list_comma()) ?? '', why: event.data.routing ? sentence(event.data.routing.reason) : '' });
    case 'started':
      return m.ev_started();
    case 'recording_began':
      return m.ev_recording_began();
    case 'recording_dropped':
      return m.ev_recording_dropped();
    case 'input_saved':
      return m.ev_input_saved();
    case 'held':
      return event.data.answer ? by(m.ev_held_you, m.ev_held) : by(m.ev_held_declined_you, m.ev_held_declined);
    case 'undone':
      return by(m.ev_undone_you, m.ev_undone);
    case 'asked':
      return by(m.you_asked, m.ev_asked);
    case 'replied':
      return m.ev_replied({ name });
    case 'commented':
      return by(m.ev_commented_you, m.ev_commented);
    case 'snoozed':
      return event.data.until ? m.ev_snoozed({ time: moment(event.data.until) }) : m.ev_woken();
    case 'shown':
      return event.data.text ? m.ev_failed({ channel, why: event.data.text }) : m.ev_shown({ channel });
    case 'seen':
      return m.ev_seen({ channel });
    case 'overdue':
      return m.ev_overdue();
    case 'completed':
      if (event.data.answer?.decision === 'approve') return by(m.ev_approved_you, m.ev_approved);
      if (event.data.answer?.decision === 'deny') return by(m.ev_denied_you, m.ev_denied);
      return by(m.ev_completed_you, m.ev_completed);
    case 'cancelled':
      return m.ev_cancelled({ name });
    case 'declined':
      return by(m.ev_declined_you, m.ev_declined);
    case 'delivered':
      return m.ev_delivered();
    default:
      return event.type;
  }
}
