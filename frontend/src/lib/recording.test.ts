import { expect, test } from 'vitest';
import {
  actionAt, advanced, between, clock, desktop, emptyTracks, faults, fileSeen, fromPixels, joined, lastAt, masksOver, noEdits, pictureAt, pictured, pictureOf, pointerAt, addTracks, second, settledUntil, share, size, toPixels, within, marks, points, viewport, closeUp,
} from './recording';
import { action, recording } from './recording.testing';
import type { RecordedEvent } from './wire';

test('a time in a recording has two digits each', () => {
  expect([0, 4 * second, 167.9 * second, 3767 * second, -5].map(clock)).toEqual(['00:00', '00:04', '02:47', '1:02:47', '00:00']);
});

test('the desktop is the box around all displays, left of the origin too', () => {
  expect(desktop([{ x: 0, y: 0, w: 1440, h: 900, scale: 1 }, { x: -1280, y: 100, w: 1280, h: 1024, scale: 1 }])).toEqual({ x: -1280, y: 0, w: 2720, h: 1124 });
});

test('a mask covers all of its region in the pixels of the picture, and comes back at least as large', () => {
  const whole = { x: -100, y: 0, w: 300, h: 200 };
  const region = { x: -33.3, y: 10.2, w: 20.5, h: 7.7 };
  const pixels = toPixels(region, whole, 600);
  expect(pixels).toEqual({ x: 133, y: 20, w: 42, h: 16 });
  const back = fromPixels(pixels, whole, 600);
  expect(back.x).toBeLessThanOrEqual(region.x);
  expect(back.x + back.w).toBeGreaterThanOrEqual(region.x + region.w);
});

test('a region stays on the picture and never shrinks to nothing', () => {
  const whole = { x: 0, y: 0, w: 100, h: 50 };
  expect(within({ x: 95, y: -4, w: 10, h: 1 }, whole)).toEqual({ x: 90, y: 0, w: 10, h: 4 });
  expect(within({ x: 0, y: 0, w: 500, h: 500 }, whole)).toEqual(whole);
  expect(between(10, 8, 2, 20)).toEqual({ x: 2, y: 8, w: 8, h: 12 });
});

test('while it runs the last actions are asked for again, and what was answered takes their place', () => {
  const known = Array.from({ length: 20 }, (_, i) => action(i + 1));
  expect(settledUntil(known.slice(0, 16))).toBe('');
  const after = settledUntil(known);
  expect(after).toBe('a4');
  const two = action(19, { type: 'double_click' });
  expect(joined(known, after, [action(5), two]).map((a) => a.action_id)).toEqual(['a1', 'a2', 'a3', 'a4', 'a5', 'a19']);
  expect(joined(known, '', [two])).toEqual([two]);
});

test('a click is shown on the picture before it, anything else on the one after', () => {
  expect(pictureOf(action(1, { before: 'b', after: 'a' }))).toBe('b');
  expect(pictureOf(action(1, { type: 'type', before: 'b', after: 'a' }))).toBe('a');
  expect(pictureOf(action(1, { type: 'type', before: 'b' }))).toBe('b');
  expect(pictureOf(action(1))).toBe('');
});

test('the last pictures are different ones, the latest last', () => {
  const actions = [action(1, { before: 'p1' }), action(2, { before: 'p2' }), action(3, { before: 'p2' }), action(4), action(5, { before: 'p3' })];
  expect(pictured(actions, 2).map((a) => a.action_id)).toEqual(['a3', 'a5']);
});

test('an agent gets what was not cut, its text only when shared, its pictures only when shared', () => {
  const actions = [action(1, { before: 'p1' }), action(2, { type: 'type', after: 'p2' }), action(3, { type: 'type', hidden: 'password', after: 'p2' })];
  expect(share(actions, noEdits())).toEqual({ steps: 3, cut: 0, hidden: 1, typed: 2, text: false, pictures: 0 });
  expect(share(actions, { ...noEdits(), cuts: ['a1'], masked_texts: ['a2'], share_text: true, share_pictures: true })).toEqual({ steps: 2, cut: 1, hidden: 2, typed: 2, text: true, pictures: 1 });
  expect(share(actions, { ...noEdits(), pictures_of: ['a1'] }).pictures).toBe(1);
  expect(share(actions, { ...noEdits(), pictures_of: ['a1'], cuts: ['a1'] }).pictures).toBe(0);
  expect(share(actions, noEdits()).pictures).toBe(0);
});

test('a mask without a picture lies over every one', () => {
  const one = { x: 0, y: 0, w: 1, h: 1, picture: 'p1' };
  const all = { x: 0, y: 0, w: 1, h: 1 };
  expect(masksOver([one, all], 'p2')).toEqual([all]);
  expect(masksOver([one, all], 'p1')).toEqual([one, all]);
});

test('the pointer goes straight between moves, and stands until shortly before a late one', () => {
  const r = addTracks(emptyTracks(), [
    { seq: 1, t_mono_ns: 0, source: 'screen', type: 'picture', picture: 'p0' },
    { seq: 2, t_mono_ns: 1 * second, source: 'screen', type: 'move', x: 0, y: 0 },
    { seq: 3, t_mono_ns: 1.1 * second, source: 'screen', type: 'move', x: 100, y: 50 },
    { seq: 4, t_mono_ns: 5 * second, source: 'screen', type: 'press', x: 200, y: 50 },
    { seq: 5, t_mono_ns: 4.9 * second, source: 'screen', type: 'picture', picture: 'p1' },
    { seq: 6, t_mono_ns: 5.2 * second, source: 'screen', type: 'picture', picture: 'p2' },
  ]);
  expect(pointerAt(r, 0.5 * second)).toBeNull();
  expect(pointerAt(r, 1.05 * second)).toEqual({ x: 50, y: 25 });
  expect(pointerAt(r, 3 * second)).toEqual({ x: 100, y: 50 });
  expect(pointerAt(r, 4.875 * second)?.x).toBeCloseTo(150);
  expect(pointerAt(r, 9 * second)).toEqual({ x: 200, y: 50 });
  expect([0, 4.95, 5.1, 6].map((s) => pictureAt(r, s * second)?.id)).toEqual(['p0', 'p1', 'p1', 'p2']);
});

test('pictures that come with an earlier time are put in their place', () => {
  const r = addTracks(emptyTracks(), [
    { seq: 1, t_mono_ns: 2, source: 'screen', type: 'picture', picture: 'after' },
    { seq: 2, t_mono_ns: 1, source: 'screen', type: 'picture', picture: 'before' },
  ]);
  expect(r.pictures.map((p) => p.id)).toEqual(['before', 'after']);
});

test('skipping pauses jumps to just before what comes next, and to the end after the last', () => {
  const actions = [action(1, { at_ns: second, end_ns: second }), action(2, { at_ns: 60 * second, end_ns: 60 * second })];
  const r = emptyTracks();
  expect(advanced(2 * second, 0.1 * second, false, r, actions, 90 * second)).toBe(2.1 * second);
  expect(advanced(2 * second, 0.1 * second, true, r, actions, 90 * second)).toBe(59.3 * second);
  expect(advanced(59.5 * second, 0.1 * second, true, r, actions, 90 * second)).toBeCloseTo(59.6 * second);
  expect(advanced(63 * second, 0.1 * second, true, r, actions, 90 * second)).toBe(90 * second);
});

test('the action at a time is the last that began', () => {
  const actions = [action(1, { at_ns: 10 }), action(2, { at_ns: 20 })];
  expect([5, 10, 19, 25].map((t) => actionAt(actions, t))).toEqual([0, 0, 0, 1]);
  expect(lastAt([], 5, () => 0)).toBe(-1);
});

test('pauses are no fault of a recording', () => {
  const gap = { from_ns: 0, to_ns: 1 };
  expect(faults(recording({ gaps: [{ ...gap, reason: 'paused' }, { ...gap, reason: 'lost' }, { ...gap, reason: 'excluded' }] })).map((g) => g.reason)).toEqual(['lost']);
});

test('a file that was expected is known by the end of its path', () => {
  const made = action(3, { type: 'file', file: { op: 'created', path: '/home/mei/contracts/K-0417.pdf' } });
  expect(fileSeen([made], '~/contracts/K-0417.pdf')).toBe(made);
  expect(fileSeen([made], '~/other/K-0417.pdf')).toBeUndefined();
  expect(fileSeen([action(3, { type: 'file', file: { op: 'deleted', path: '/a/b' } })], '/a/b')).toBeUndefined();
  expect(fileSeen([made], '')).toBeUndefined();
});

test('sizes are said in the unit that reads best', () => {
  expect([12, 2300, 4_260_000, 1.24e9].map(size)).toEqual([{ n: 12, unit: 'byte' }, { n: 2, unit: 'kilobyte' }, { n: 4.3, unit: 'megabyte' }, { n: 1.2, unit: 'gigabyte' }]);
});

test('a page has a pointer of its own, in its own pixels, and its pictures say which page', () => {
  const page = { target: 't1', url: 'https://a.example/', w: 800, h: 600 };
  const event = (seq: number, type: string, of: object): RecordedEvent => ({ seq, t_mono_ns: seq * second, source: 'browser', type, ...of });
  const r = addTracks(emptyTracks(), [
    event(1, 'move', { x: 900, y: 700 }), event(2, 'page_press', { x: 10, y: 20, page }), event(3, 'page_drag', { x: 10, y: 20, to_x: 50, to_y: 60, page }), event(4, 'picture', { picture: 'p', page }),
  ]);
  expect(pointerAt(r, 4 * second)).toEqual({ x: 900, y: 700 });
  expect(pointerAt(r.onPage, 4 * second)).toEqual({ x: 50, y: 60 });
  expect(r.onPage.presses).toEqual([{ at: 2 * second, x: 10, y: 20 }]);
  expect(pictureAt(r, 5 * second)?.page).toEqual(page);
});

test('on a page an action without a place is marked by its element', () => {
  const page = { target: 't1', url: 'https://a.example/' };
  const element = { role: 'textbox', bounds: { x: 1, y: 2, w: 3, h: 4 } };
  expect(marks(action(1, { type: 'type', element }))).toBe(false);
  expect(marks(action(1, { type: 'type', element, page }))).toBe(true);
  expect(points(action(1, { type: 'check', x: 4, y: 5, page }))).toBe(true);
  expect(points(action(1, { type: 'check', page }))).toBe(false);
  expect(viewport(page)).toBeNull();
  expect(viewport({ ...page, w: 8, h: 6 })).toEqual({ x: 0, y: 0, w: 8, h: 6 });
});

test('a small picture of something long shows the part where what is marked begins', () => {
  expect(closeUp({ x: 0, y: 0, w: 160, h: 100 }, undefined, 1.6)).toEqual({ x: 0, y: 0, w: 160, h: 100 });
  const wide = closeUp({ x: 0, y: 0, w: 1200, h: 50 }, { x: 500, y: 10, w: 600, h: 30 }, 1.6);
  expect(wide).toEqual({ x: 487.5, y: 0, w: 128, h: 50 });
  expect(closeUp({ x: 0, y: 0, w: 1200, h: 50 }, { x: 1190, y: 10, w: 10, h: 30 }, 1.6).x).toBe(1072);
  const tall = closeUp({ x: 0, y: 0, w: 160, h: 2000 }, { x: 0, y: 0, w: 160, h: 1900 }, 1.6);
  expect([tall.y, tall.h]).toEqual([0, 160]);
});
