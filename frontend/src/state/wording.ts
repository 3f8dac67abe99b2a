import { m } from '../paraglide/messages';
import type { GroupName } from '../lib/groups';
import { ended } from '../lib/life';
import { age, span, timeOfDay } from '../lib/time';
import type { GateRisk } from '../lib/gatewire';
import type { Kind, Operation, TimelineEvent } from '../lib/wire';
import { planEvent, planOutcome } from '../kinds/plan/runwords';

/** The words for things that come from the wire. Each is a message of its own, in the language of the page. */

export function kindWord(kind: Kind): string {
  switch (kind) {
    case 'approve':
      return m.kind_approve();
    case 'feedback':
      return m.kind_feedback();
    case 'bash':
      return m.kind_bash();
    case 'desktop':
      return m.kind_desktop();
    case 'browser':
      return m.kind_browser();
    case 'review':
      return m.kind_review();
    case 'permission':
      return m.kind_permission();
    case 'plan':
      return m.kind_plan();
    default:
      return kind;
  }
}

export function riskWord(risk: GateRisk): string {
  return { none: m.risk_none, low: m.risk_low, medium: m.risk_medium, high: m.risk_high, critical: m.risk_critical }[risk]();
}

export function riskSentence(risk: GateRisk): string {
  return { none: m.risk_none_long, low: m.risk_low_long, medium: m.risk_medium_long, high: m.risk_high_long, critical: m.risk_critical_long }[risk]();
}

export function groupWord(name: GroupName): string {
  return { ringing: m.group_ringing, running: m.group_running, waiting: m.group_waiting, snoozed: m.group_snoozed, today: m.group_today }[name]();
}

/** A span in the least room: '4:12', '29m', '2h'. */
export function shortSpan(ms: number): string {
  const s = span(ms);
  if (s.unit === 'clock') return s.text;
  return { minutes: m.short_minutes, hours: m.short_hours, days: m.short_days }[s.unit]({ n: s.n });
}

/** A span in words: '4 min 12 s', '29 min', '3 h'. */
export function spokenSpan(ms: number): string {
  const s = span(ms);
  if (s.unit === 'clock') {
    const seconds = Math.max(0, Math.floor(ms / 1000));
    return seconds < 60 ? m.long_seconds({ s: seconds }) : m.long_minutes_seconds({ n: Math.floor(seconds / 60), s: seconds % 60 });
  }
  return { minutes: m.long_minutes, hours: m.long_hours, days: m.long_days }[s.unit]({ n: s.n });
}

/** The age of a row: 'now', '5m', '2h'. */
export function rowAge(ms: number): string {
  const a = age(ms);
  if (a.unit === 'now') return m.short_now();
  return { minutes: m.short_minutes, hours: m.short_hours, days: m.short_days }[a.unit]({ n: a.n });
}

/** When it rang, as a card says it. */
export function rangAgo(ms: number): string {
  if (ms < 10_000) return m.rang_just_now();
  const s = span(ms);
  return m.rang_ago({ time: s.unit === 'clock' ? s.text : spokenSpan(ms) });
}

/** What came of an operation, in a word. */
export function outcomeWord(op: Operation): string {
  if (op.action_type === 'plan' && ended(op)) return planOutcome(op);
  if (op.action_type === 'permission' && op.state === 'completed') return op.result?.decision === 'approve' ? m.perm_outcome_allowed() : m.perm_outcome_refused();
  if (op.action_type === 'permission' && op.state === 'cancelled' && op.ended?.by.role === 'system') return m.perm_outcome_expired();
  if (op.state === 'completed') {
    if (op.result?.decision === 'approve') return m.outcome_approved();
    if (op.result?.decision === 'deny') return m.outcome_denied();
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

export function channelWord(channel: string): string {
  switch (channel) {
    case 'card':
      return m.channel_card();
    case 'notification':
      return m.channel_notification();
    case 'tray':
      return m.channel_tray();
    case 'console':
      return m.channel_console();
    default:
      return channel;
  }
}

/** One event of a timeline, as a sentence. */
export function eventSentence(event: TimelineEvent, operator: string, op: Operation): string {
  const kind = op.action_type;
  const name = event.by.name || m.the_system();
  const mine = event.by.role === 'operator' && event.by.name === operator;
  const by = (own: () => string, other: (of: { name: string }) => string): string => (mine ? own() : other({ name }));
  const channel = channelWord(event.data.channel ?? '');
  const ofPlan = kind === 'plan' ? planEvent(event, op, by) : '';
  if (ofPlan) return ofPlan;
  switch (event.type) {
    case 'invoked':
      return m.ev_invoked();
    case 'claimed':
      return by(m.claimed_by_you, m.claimed_by);
    case 'released':
      return by(m.ev_released_you, m.ev_released);
    case 'started':
      return m.ev_started();
    case 'input_saved':
      return m.ev_input_saved();
    case 'asked':
      return by(m.you_asked, m.ev_asked);
    case 'replied':
      return m.ev_replied({ name });
    case 'commented':
      return by(m.ev_commented_you, m.ev_commented);
    case 'snoozed':
      return event.data.until ? m.ev_snoozed({ time: timeOfDay(event.data.until) }) : m.ev_woken();
    case 'shown':
      return event.data.text ? m.ev_failed({ channel, why: event.data.text }) : m.ev_shown({ channel });
    case 'seen':
      return m.ev_seen({ channel });
    case 'overdue':
      return m.ev_overdue();
    case 'completed':
      if (kind === 'permission') return event.data.answer?.decision === 'approve' ? by(m.perm_ev_allowed_you, m.perm_ev_allowed) : by(m.perm_ev_refused_you, m.perm_ev_refused);
      if (event.data.answer?.decision === 'approve') return by(m.ev_approved_you, m.ev_approved);
      if (event.data.answer?.decision === 'deny') return by(m.ev_denied_you, m.ev_denied);
      return by(m.ev_completed_you, m.ev_completed);
    case 'cancelled':
      if (kind === 'permission' && event.by.role === 'system') return m.perm_ev_expired();
      return m.ev_cancelled({ name });
    case 'declined':
      return by(m.ev_declined_you, m.ev_declined);
    case 'delivered':
      return m.ev_delivered();
    default:
      return event.type;
  }
}
