import { kinds } from '../kinds/fields';
import { groupNames } from './groups';
import { none } from './statistics';

/** The lists that are filtered: open requests, those that have ended, and what is counted. */
export type FilteredList = 'inbox' | 'history' | 'statistics';

/** The parts of a filter, in the order in which an address and its chips have them. */
export const filterKeys = ['days', 'kind', 'agent', 'project', 'risk', 'state', 'end', 'from', 'to', 'hour', 'q'] as const;
export type FilterKey = (typeof filterKeys)[number];

/** A filter. What is absent filters nothing; `none` stands for requests that name no project or no risk. */
export type Filters = Readonly<Partial<Record<FilterKey, string>>>;

/** What an address asks for that is no filter of its list. */
export type Ignored = readonly (readonly [key: string, value: string])[];

type Check = (value: string) => boolean;
const among = (...all: readonly string[]): Check => (value) => all.includes(value);
const text = (most: number): Check => (value) => value.length <= most;
const kind: Check = among(...kinds);
export const risks = ['critical', 'high', 'medium', 'low'] as const;
const risk: Check = among(...risks, none);
const name = text(200);
const moment: Check = (value) => /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/.test(value) && !Number.isNaN(Date.parse(value));
const hour: Check = (value) => /^[1-9]\d{0,2}$/.test(value) && Number(value) <= 168;

/** In place of the outcome: open requests, too. */
export const anyState = 'all';
export const ends = ['completed', 'denied', 'declined', 'cancelled', 'timeout', 'open'] as const;

const checks: Record<FilteredList, Partial<Record<FilterKey, Check>>> = {
  inbox: { kind, agent: name, project: name, risk, state: among(...groupNames), q: text(500) },
  history: { kind, agent: name, project: name, risk, state: among('completed', 'declined', 'cancelled', anyState), end: among(...ends), from: moment, to: moment, hour, q: text(500) },
  statistics: { days: among('7', '30', '90', '365'), kind, agent: name, project: name, risk },
};

/** The ways of ending that a kind has for itself, where it has some. */
export type OwnEnds = (kind: string) => readonly string[] | undefined;

/** Whether a filter of the history is about when requests were made or also about open ones, as links from statistics are. */
export const counted = (filters: Filters): boolean => !!(filters.from || filters.to || filters.hour || filters.state === anyState);

/** The filter as the query of an address. One filter has one query. */
export function encodeFilters(filters: Filters): string {
  return new URLSearchParams(filterKeys.flatMap((key) => (filters[key] ? [[key, filters[key]]] : []))).toString();
}

/** Reads the query of an address. What is unknown there filters nothing and is in `ignored`; of two values of one key the first counts. */
export function decodeFilters(list: FilteredList, query: string, own?: OwnEnds): { filters: Filters; ignored: Ignored } {
  const filters: Partial<Record<FilterKey, string>> = {};
  const ignored: [string, string][] = [];
  for (const [key, value] of new URLSearchParams(query)) {
    const known = key as FilterKey;
    if (Object.hasOwn(checks[list], key) && !(known in filters) && (key === 'end' || checks[list][known]?.(value))) {
      if (value) filters[known] = value;
    } else ignored.push([key, value]);
  }
  const { end } = filters;
  const allowed = (!counted(filters) && filters.kind && own?.(filters.kind)) || ends;
  if (end && !(allowed as readonly string[]).includes(end)) {
    delete filters.end;
    ignored.push(['end', end]);
  }
  return { filters, ignored };
}

/** A filter with another value of one key, or without it. */
export function withFilter(filters: Filters, key: FilterKey, value: string | undefined): Filters {
  const rest = withoutFilters(filters, [key]);
  return value ? { ...rest, [key]: value } : rest;
}

export function withoutFilters(filters: Filters, keys: readonly FilterKey[]): Filters {
  return Object.fromEntries(Object.entries(filters).filter(([key]) => !keys.includes(key as FilterKey)));
}
