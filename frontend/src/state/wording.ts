import { m } from '../paraglide/messages';
import type { GroupName } from '../lib/groups';
import { age, sameDay, span, timeOfDay } from '../lib/time';
import type { GateRisk } from '../lib/gatewire';
import { language } from './locale.svelte';
import { ticker } from './ticker.svelte';

/** The words for things that come from the wire. Each is a message of its own, in the language of the page. */

export function riskWord(risk: GateRisk): string {
  return { none: m.risk_none, low: m.risk_low, medium: m.risk_medium, high: m.risk_high, critical: m.risk_critical }[risk]();
}

export function riskSentence(risk: GateRisk): string {
  return { none: m.risk_none_long, low: m.risk_low_long, medium: m.risk_medium_long, high: m.risk_high_long, critical: m.risk_critical_long }[risk]();
}

/** The name of a group of the inbox, which has more of them in a team. */
export function groupWord(name: GroupName, team = false): string {
  return { ringing: team ? m.group_ringing_you : m.group_ringing, handed: m.group_handed, running: m.group_running, mine: m.claimed_by_you, waiting: m.group_waiting, others: m.group_others, snoozed: m.group_snoozed, today: m.group_today }[name]();
}

/** The time of day, of today; else the day. */
export function shortTime(at: string): string {
  return sameDay(at, ticker.now) ? timeOfDay(at) : new Intl.DateTimeFormat(language.locale, { day: 'numeric', month: 'short' }).format(new Date(at));
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
    return seconds < 60 ? m.long_seconds({ s: seconds }) : seconds % 60 === 0 ? m.long_minutes({ n: seconds / 60 }) : m.long_minutes_seconds({ n: Math.floor(seconds / 60), s: seconds % 60 });
  }
  return { minutes: m.long_minutes, hours: m.long_hours, days: m.long_days }[s.unit]({ n: s.n });
}

/** A span that is estimated: as coarse as it is known. */
export function roughSpan(seconds: number): string {
  return spokenSpan((seconds < 60 ? Math.max(1, Math.ceil(seconds)) : Math.round(seconds / 60) * 60) * 1000);
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
