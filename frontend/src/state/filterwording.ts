import { kindOf } from '../kinds';
import { kindWord } from '../kinds/words';
import { anyState, type FilteredList, type FilterKey, type Filters } from '../lib/filters';
import type { GroupName } from '../lib/groups';
import { none } from '../lib/statistics';
import type { Risk } from '../lib/wire';
import { m } from '../paraglide/messages';
import { language } from './locale.svelte';
import { groupWord, riskSentence } from './wording';

/** The name of a part of a filter. */
export function filterName(key: FilterKey): string {
  const names: Record<FilterKey, () => string> = {
    days: m.history_period, kind: m.filter_kind, agent: m.filter_agent, project: m.stats_project, risk: m.stats_risk, state: m.filter_state, end: m.filter_end, from: m.filter_from, to: m.filter_to, hour: m.filter_hour, q: m.filter_text,
  };
  return names[key]();
}

/** The end of a path, which is what a project is called by. */
const project = (name: string): string => name.split(/[\\/]/).findLast(Boolean) ?? name;

const monday = Date.UTC(2026, 0, 5);
/** An hour of the week, 1 to 168: 'Monday at 10'. */
export function hourWord(hour: number): string {
  const day = new Intl.DateTimeFormat(language.locale, { weekday: 'long', timeZone: 'UTC' }).format(monday + Math.floor((hour - 1) / 24) * 86_400_000);
  return m.stats_hour({ day, hour: (hour - 1) % 24 });
}

const moment = (at: string): string => new Intl.DateTimeFormat(language.locale, { day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).format(new Date(at));

/** The value of a part of a filter, in words. */
export function filterValue(list: FilteredList, key: FilterKey, value: string, kind?: string): string {
  switch (key) {
    case 'days':
      return value === '365' ? m.stats_year() : m.stats_days({ n: Number(value) });
    case 'kind':
      return kindWord(value);
    case 'project':
      return value === none ? m.stats_no_project() : project(value);
    case 'risk':
      return value === none ? m.history_no_risk() : riskSentence(value as Risk);
    case 'state':
      return list === 'inbox' ? groupWord(value as GroupName) : ({ completed: m.outcome_answered, declined: m.outcome_declined, cancelled: m.outcome_cancelled, [anyState]: m.filter_open_too }[value] ?? m.filter_any_state)();
    case 'end': {
      const own = kind ? kindOf({ action_type: kind }).history?.ends.find((one) => one.value === value)?.label : undefined;
      const words = { completed: m.stats_end_completed, denied: m.stats_end_denied, declined: m.stats_end_declined, cancelled: m.stats_end_cancelled, timeout: m.stats_end_timeout, open: m.stats_end_open }[value];
      return (own ?? words)?.() ?? value;
    }
    case 'from':
    case 'to':
      return moment(value);
    case 'hour':
      return hourWord(Number(value));
    default:
      return value;
  }
}

/** The two ends of a time as one: 'on 12 Nov', '27 Oct – 26 Nov'. */
export function spanWord(from: string, to: string): string {
  const days = new Intl.DateTimeFormat(language.locale, { day: 'numeric', month: 'short', year: 'numeric' });
  const last = new Date(Date.parse(to) - 1);
  return days.formatRange(new Date(from), last < new Date(from) ? new Date(from) : last);
}

export interface Chip {
  /** What it takes away. */
  keys: FilterKey[];
  name: string;
  value: string;
}

/** A filter part by part, as chips show it; the days of statistics have a control of their own. */
export function chipsOf(list: FilteredList, filters: Filters, days = false): Chip[] {
  const { from, to, ...rest } = filters;
  const time: Chip[] = from && to ? [{ keys: ['from', 'to'], name: m.filter_time(), value: spanWord(from, to) }] : [];
  const single = from && to ? rest : filters;
  const order: FilterKey[] = [...(days ? (['days'] as const) : []), 'kind', 'agent', 'project', 'risk', 'state', 'end', 'from', 'to', 'hour', 'q'];
  return [
    ...time,
    ...order.flatMap((key) => {
      const value = (single as Filters)[key];
      return value ? [{ keys: [key], name: filterName(key), value: filterValue(list, key, value, filters.kind) }] : [];
    }),
  ];
}
