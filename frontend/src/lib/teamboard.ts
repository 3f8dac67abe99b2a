import { dateOf } from './time';
import type { Hours, TeamPerson, TeamWeek } from './wire';

/** The number of a week, of the calendar on which weeks begin on Mondays and the first has the year's first Thursday (ISO 8601). */
export function weekNumber(from: string): number {
  const monday = new Date(from);
  // The Monday of the zone that the server was asked for is one of this clock.
  const thursday = new Date(monday.getFullYear(), monday.getMonth(), monday.getDate() + 3, 12);
  const day = Math.floor((thursday.getTime() - new Date(thursday.getFullYear(), 0, 1, 12).getTime()) / 86_400_000 + 0.5);
  return Math.floor(day / 7) + 1;
}

/** The name of a file about a team, of a day of this clock, without an ending. A team may be called anything. */
export function teamFile(team: string, at: string): string {
  const name = [...team.replace(/[^\p{L}\p{M}\p{N}]+/gu, '-').replace(/^-|-$/g, '')].slice(0, 60).join('');
  return ['deskbell-team', name, dateOf(new Date(at))].filter(Boolean).join('-');
}

/** How high the bars of medians are, from 0 to `height`: the longest of all rows has it all, and none is thinner than a line. */
export function bars(rows: readonly TeamWeek[][], height: number): number[][] {
  const most = Math.max(1, ...rows.flat().map(({ answer }) => answer.median_ms));
  return rows.map((weeks) => weeks.map(({ answer }) => (answer.count ? Math.max(1, (answer.median_ms / most) * height) : 0)));
}

/** Whom a request can be handed over to: who answers, and is neither oneself nor who has it. */
export function takers(people: readonly TeamPerson[], not: readonly string[]): TeamPerson[] {
  const state = { on: 0, away: 1, off: 2 };
  return people
    .flatMap((person) => (person.state && !not.includes(person.name) ? { person, rank: state[person.state] * 2 + (person.connected ? 0 : 1) } : []))
    .sort((a, b) => a.rank - b.rank || a.person.claims - b.person.claims)
    .map(({ person }) => person);
}

const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Hours as people write them, such as "mon-fri 09:00-17:30"; undefined for what cannot be read. */
export function hoursOf(text: string): Hours | undefined {
  const [, on, from, to] = /^(?:(\S+) +)?(\d\d:\d\d)-(\d\d:\d\d)$/.exec(text.trim().toLowerCase()) ?? [];
  if (!from || !to) return undefined;
  const spans = (on?.split(',') ?? []).map((part) => {
    const [first = '', last = first] = part.split('-');
    const [begin, end] = [days.indexOf(first), days.indexOf(last)];
    return begin < 0 || end < 0 ? [] : Array.from({ length: ((end - begin + 7) % 7) + 1 }, (_, i) => days[(begin + i) % 7] ?? '');
  });
  return spans.some((span) => !span.length) ? undefined : { days: spans.flat(), from, to };
}

/** Hours as hoursOf reads them. */
export function hoursText({ days: on, from, to }: Hours): string {
  return `${on?.length ? `${on.join(',')} ` : ''}${from}-${to}`;
}
