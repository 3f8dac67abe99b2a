import { expect, test } from 'vitest';
import { bars, hoursOf, hoursText, takers, teamFile, weekNumber } from './teamboard';
import type { TeamPerson, TeamWeek } from './wire';

test.each([
  [[2026, 10, 30], 49],
  [[2026, 11, 28], 53], // its Thursday is the last day of the year
  [[2027, 0, 4], 1],
  [[2024, 11, 30], 1], // its Thursday is in the next year
  [[2026, 5, 1], 23],
])('the week that begins at %j is number %i', ([y = 0, month = 0, d = 0], n) => {
  expect(weekNumber(new Date(y, month, d).toISOString())).toBe(n);
});

const week = (median_ms: number, count = 1): TeamWeek => ({ from: '', requests: count, overdue: 0, see: { count: 0, tenth_ms: 0, median_ms: 0, ninth_ms: 0 }, answer: { count, tenth_ms: 0, median_ms, ninth_ms: 0 } });

test('bars compare all rows, and what was answered at once is a line', () => {
  expect(bars([[week(1000), week(500)], [week(0), week(0, 0)]], 30)).toEqual([[30, 15], [1, 0]]);
  expect(bars([], 30)).toEqual([]);
});

const person = (name: string, over: Partial<TeamPerson>): TeamPerson => ({ name, role: 'operator', state: 'on', connected: true, claims: 0, answered: 0, ...over });

test('a request is handed over to whoever is there and has little to do, and not to oneself', () => {
  const people = [person('off', { state: 'off' }), person('busy', { claims: 3 }), person('gone', { connected: false }), person('away', { state: 'away' }), person('free', {}), person('me', {}), person('ci', { role: 'agent', state: undefined })];
  expect(takers(people, ['me']).map(({ name }) => name)).toEqual(['free', 'busy', 'gone', 'away', 'off']);
});

test('hours are read as people write them, and written so', () => {
  expect(hoursOf('mon-wed,SUN  09:00-17:30')).toEqual({ days: ['mon', 'tue', 'wed', 'sun'], from: '09:00', to: '17:30' });
  expect(hoursOf('sat-mon 22:00-06:00')?.days).toEqual(['sat', 'sun', 'mon']);
  expect(hoursOf(' 09:00-17:30 ')).toEqual({ days: [], from: '09:00', to: '17:30' });
  for (const wrong of ['', 'mon', 'mon-fri', 'mo 09:00-17:30', 'mon- 09:00-17:30', 'mon, 09:00-17:30', 'mon 9-17']) expect(hoursOf(wrong), wrong).toBeUndefined();
  for (const text of ['mon,tue 09:00-17:30', '22:00-06:00']) expect(hoursText(hoursOf(text) ?? { from: '', to: '' })).toBe(text);
});

test.each([
  ['Blue', 'deskbell-team-Blue-2026-11-29'],
  ['蓝队', 'deskbell-team-蓝队-2026-11-29'],
  ['../a: "b"\n', 'deskbell-team-a-b-2026-11-29'],
  ['…', 'deskbell-team-2026-11-29'],
  ['x'.repeat(300), `deskbell-team-${'x'.repeat(60)}-2026-11-29`],
])('a file about the team %j is called %s', (team, name) => {
  expect(teamFile(team, new Date(2026, 10, 29, 0, 30).toISOString())).toBe(name);
});
