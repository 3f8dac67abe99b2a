import { describe, expect, test } from 'vitest';
import { emptyForm, withSources } from './answer';
import { corrected, downloads, fill, pageName, picks, rowsOf, selectorOf, sourceOf, turns, visited, wallTime } from './browsing';
import { action, recording } from './recording.testing';
import type { Action, WebPage } from './wire';

const page = (url: string, title = '', target = 't1'): WebPage => ({ target, url, title, w: 1280, h: 720 });
const pick = (seq: number, field: string, text: string, of: Partial<Action> = {}): Action =>
  action(seq, { type: 'pick', page: page('https://v.example/quota', 'Quota'), pick: { field, take: 'element', text }, after: `p${seq}`, ...of });
const at = (seq: number): number => wallTime(recording(), pick(seq, 'plan', ''));

describe('the pages of a visit', () => {
  test('are told once each, whatever the place in them, and the last one looked at is known', () => {
    const all = [
      action(1, { page: page('https://v.example/', 'Sign in') }),
      action(2, { page: page('https://v.example/billing', 'Billing') }),
      action(3, { page: page('https://v.example/billing#invoices', 'Billing, invoices') }),
      action(4, { page: page('https://v.example/', '') }),
    ];
    const visit = visited(all);
    expect(visit.pages.map((one) => one.title)).toEqual(['Sign in', 'Billing, invoices']);
    expect(visit.now).toBe(0);
    expect(visit.page?.url).toBe('https://v.example/');
  });
  test('a tab that is closed is not where one is', () => {
    const visit = visited([action(1, { page: page('https://a.example/', 'A') }), action(2, { type: 'close_page', page: page('https://b.example/', 'B', 't2') })]);
    expect(visit.page?.url).toBe('https://a.example/');
  });
  test('without a title a page goes by where it is', () => {
    expect(pageName({ url: 'https://v.example/a/b?c' })).toBe('v.example/a/b');
    expect(pageName({ url: 'about:blank' })).toBe('about:blank');
  });
  test('its address is said where the page turns, or the tab', () => {
    const first = action(1, { page: page('https://a.example/') });
    expect(turns(undefined, first)).toBe(true);
    expect(turns(first, action(2, { page: page('https://a.example/#x') }))).toBe(false);
    expect(turns(first, action(2, { page: page('https://a.example/', '', 't2') }))).toBe(true);
    expect(turns(first, action(2))).toBe(false);
  });
});

test('downloads are listed with their files', () => {
  expect(downloads([action(1), action(2, { type: 'download', transfers: [{ name: 'a.csv', size: 18 }] }), action(3, { type: 'upload', transfers: [{ name: 'b' }] })])).toEqual([{ id: 'a2', file: { name: 'a.csv', size: 18 } }]);
});

test('a selector names the frame, and descends through shadow roots', () => {
  expect(selectorOf({ element: { role: 'cell', bounds: { x: 0, y: 0, w: 0, h: 0 }, selectors: [['my-table', 'td.price'], ['#x']] }, page: { ...page('https://a.example/'), frame: [1, 0] } })).toBe('frame[1.0] > my-table >>> td.price');
  expect(selectorOf({ page: page('https://a.example/') })).toBe('');
});

describe('a pick fills its field', () => {
  test('with where it came from; the last pick of a field counts', () => {
    const form = emptyForm();
    const last = picks([pick(1, 'plan', 'Scale'), pick(2, 'plan', 'Scale 2026'), pick(3, 'quota', '12')]);
    expect([...last.values()].map((one) => one.action_id)).toEqual(['a2', 'a3']);
    expect(fill(form, recording(), last.get('plan') as Action, 0)).toBe(true);
    expect(form.fields.plan).toBe('Scale 2026');
    expect(form.field_sources.plan).toEqual({ recording_id: 'rec_1', action_id: 'a2', picked: 'Scale 2026', at: '2026-01-02T03:04:07.000Z', url: 'https://v.example/quota', picture: 'p2' });
  });
  test('only once: what was emptied stays empty', () => {
    const form = emptyForm();
    fill(form, recording(), pick(1, 'plan', 'Scale'), 0);
    form.fields.plan = '';
    expect(fill(form, recording(), pick(1, 'plan', 'Scale'), 0)).toBe(false);
    expect(form.fields.plan).toBe('');
  });
  test('over what was typed before it', () => {
    const form = { ...emptyForm(), fields: { plan: 'typed' } };
    expect(fill(form, recording(), pick(5, 'plan', 'Scale'), at(5) - 1)).toBe(true);
    expect(form.fields.plan).toBe('Scale');
    expect(form.field_sources.plan?.corrected).toBeUndefined();
  });
  test('not over what was typed after it: that counts as a correction', () => {
    const form = { ...emptyForm(), fields: { plan: 'typed' } };
    expect(fill(form, recording(), pick(5, 'plan', 'Scale'), at(5) + 1)).toBe(true);
    expect(form.fields.plan).toBe('typed');
    expect(form.field_sources.plan).toMatchObject({ picked: 'Scale', corrected: true });
  });
  test('not when a later recording filled it', () => {
    const form = emptyForm();
    fill(form, recording({ recording_id: 'rec_2', started_at: '2026-01-02T04:00:00Z' }), pick(1, 'plan', 'new'), 0);
    expect(fill(form, recording(), pick(9, 'plan', 'old'), 0)).toBe(false);
    expect(form.fields.plan).toBe('new');
  });
});

test('a correction is one for as long as the value is another', () => {
  const source = sourceOf(recording(), pick(1, 'plan', '8.4M'));
  const changed = corrected(source, '8,412,903');
  expect(changed.corrected).toBe(true);
  expect(corrected(changed, '8.4M')).toEqual(source);
});

test('a source goes out with its value only, and not where its step was left out', () => {
  const source = (id: string) => ({ ...sourceOf(recording(), pick(1, 'x', 'v')), action_id: id });
  const answer = { fields: { a: '1', b: '2' }, field_sources: { a: source('a1'), b: source('a2'), c: source('a3') } };
  expect(Object.keys(withSources(answer, (one) => one.action_id === 'a2').field_sources ?? {})).toEqual(['a']);
  expect(withSources({ fields: {}, field_sources: answer.field_sources }, () => false).field_sources).toBeUndefined();
});

describe('rows', () => {
  test('are read from JSON, of a list one cell each', () => {
    expect(rowsOf('[["Plan","Price"],["A",1]]')).toEqual([['Plan', 'Price'], ['A', '1']]);
    expect(rowsOf('["a","b"]')).toEqual([['a'], ['b']]);
  });
  test('are nothing where it is text', () => {
    for (const text of ['[draft] hello', 'Scale 2026', '[]', '[[]]', '{"a":1}']) expect(rowsOf(text)).toBeNull();
  });
});
