import { describe, expect, test } from 'vitest';
import { kinds } from '../kinds/fields';
import { anyState, decodeFilters, encodeFilters, ends, filterKeys, risks, withFilter, type FilteredList, type FilterKey, type Filters } from './filters';
import { none } from './statistics';

/** Random numbers that are the same in every run. */
function random(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return Math.floor((state / 4_294_967_296) * n);
  };
}

const texts = ['web', 'a b', '=&?#/%', '+', '100 %25', '/home/mei/api server', '供应商', '🛎️', 'é', '"quoted"', 'a\u0000b', '\u202Egnp', none, '0', 'null', '__proto__', 'x'.repeat(200)];
const values: Record<FilteredList, Partial<Record<FilterKey, readonly string[]>>> = {
  inbox: { kind: kinds, agent: texts, project: texts, risk: [...risks, none], state: ['ringing', 'running', 'waiting', 'snoozed', 'today'], q: texts },
  history: {
    kind: kinds, agent: texts, project: texts, risk: [...risks, none], state: ['completed', 'declined', 'cancelled', anyState], end: ends,
    from: ['2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00+02:00'], to: ['2026-02-01T00:00:00Z'], hour: ['1', '24', '168'], q: texts,
  },
  statistics: { days: ['7', '30', '90', '365'], kind: kinds, agent: texts, project: texts, risk: [...risks, none] },
};

describe.each(['inbox', 'history', 'statistics'] as const)('an address of %s', (list) => {
  const pick = random(list.length);
  const any = (): Filters => Object.fromEntries(filterKeys.flatMap((key) => {
    const all = values[list][key];
    return all && pick(3) ? [[key, all[pick(all.length)]]] : [];
  }));

  test('gives the filter it was made of, whatever that is', () => {
    for (let i = 0; i < 2000; i++) {
      const filters = any();
      const query = encodeFilters(filters);
      // As the fragment of an address has it.
      const read = new URL(`http://127.0.0.1/#/${list}?${query}`).hash.split('?').slice(1).join('?');
      expect(decodeFilters(list, read)).toEqual({ filters, ignored: [] });
      expect(encodeFilters(decodeFilters(list, query).filters)).toBe(query);
    }
  });

  test('may be anything: what is known is taken, the rest is said', () => {
    const odd = ['kind', 'kind=', 'kind=nothing', 'risk=mild', 'state=asleep', 'days=31', 'hour=0', 'hour=169', 'from=yesterday', 'to=2026-99-99T00:00:00Z', 'end=never', '__proto__=x', 'constructor=x', 'a=b&a=c', '%', '%zz=%', '&&=', `agent=${'x'.repeat(201)}`];
    for (let i = 0; i < 500; i++) {
      const filters = withFilter(any(), 'end', undefined);
      const query = [encodeFilters(filters), ...Array.from({ length: 3 }, () => odd[pick(odd.length)])].filter(Boolean).join('&');
      const { filters: taken, ignored } = decodeFilters(list, query);
      expect(taken).toEqual(filters);
      expect(ignored.length).toBeGreaterThanOrEqual(3);
    }
  });
});

test.each<[FilteredList, string, string[]]>([
  ['inbox', 'kind=dream&risk=high', ['kind=dream']],
  ['inbox', 'days=30', ['days=30']],
  ['inbox', 'kind=approve&kind=bash', ['kind=bash']],
  ['statistics', 'q=x&state=open', ['q=x', 'state=open']],
  ['history', 'end=confirmed', ['end=confirmed']],
  ['history', 'state=closed&agent=bot', ['state=closed']],
])('%s?%s: what it does not know is said', (list, query, words) => {
  expect(decodeFilters(list, query).ignored.map((one) => one.join('='))).toEqual(words);
});

test('a kind that ends in ways of its own is filtered by those, but not what was counted', () => {
  const own = (name: string): readonly string[] | undefined => (name === 'plan' ? ['confirmed', 'timeout'] : undefined);
  expect(decodeFilters('history', 'kind=plan&end=confirmed', own)).toEqual({ filters: { kind: 'plan', end: 'confirmed' }, ignored: [] });
  expect(decodeFilters('history', 'end=denied&kind=plan', own)).toEqual({ filters: { kind: 'plan' }, ignored: [['end', 'denied']] });
  expect(decodeFilters('history', 'kind=plan&end=denied&state=all', own).ignored).toEqual([]);
});
