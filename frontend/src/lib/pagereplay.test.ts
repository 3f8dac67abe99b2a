import { expect, test } from 'vitest';
import { replays } from './pagereplay';
import type { JsonObject, RecordedEvent, WebPage } from './wire';

const event = (seq: number, page: Partial<WebPage>, dom?: JsonObject): RecordedEvent => ({ seq, t_mono_ns: seq, source: 'browser', type: 'page_dom', page: { target: 't1', url: 'https://a.example/', ...page }, ...(dom && { dom }) });
const rr = (type: number, timestamp: number): JsonObject => ({ type, timestamp, data: {} });

test('each tab is a replay, in order of time, by the page it showed last', () => {
  const found = replays([
    event(1, { title: 'One' }, rr(4, 10)), event(2, { title: 'One' }, rr(2, 12)), event(3, { target: 't2', title: 'Two' }, rr(4, 11)), event(4, { title: 'Later' }, rr(3, 11)), event(5, { target: 't2' }, rr(2, 13)),
  ]);
  expect(found.map((replay) => [replay.target, replay.title, replay.events.map((one) => one.timestamp)])).toEqual([['t1', 'Later', [10, 11, 12]], ['t2', 'Two', [11, 13]]]);
});

test('frames, other events, bad ones and tabs without a page are left out', () => {
  expect(replays([event(1, { frame: [0] }, rr(2, 1)), event(2, {}), event(3, {}, { type: 'x' }), event(4, {}, rr(3, 2)), event(5, {}, rr(3, 3))])).toEqual([]);
});
