import type { JsonObject, RecordedEvent } from './wire';

/** One event of rrweb: `type` 2 is the whole page, 4 its address and size; times are in milliseconds. */
export interface ReplayEvent {
  type: number;
  timestamp: number;
  data: JsonObject;
}

/** The page replay of one tab, in order of time. */
export interface TabReplay {
  target: string;
  title: string;
  events: ReplayEvent[];
}

const snapshot = 2;

function replayEvent(dom: JsonObject | undefined): ReplayEvent | null {
  return dom && typeof dom.type === 'number' && typeof dom.timestamp === 'number' && typeof dom.data === 'object' && dom.data !== null && !Array.isArray(dom.data) ? (dom as unknown as ReplayEvent) : null;
}

/** The page replays in recorded events, one per tab. Events of frames are left out: a frame is not a page of its own. */
export function replays(events: readonly RecordedEvent[]): TabReplay[] {
  const found = new Map<string, TabReplay>();
  for (const event of events) {
    const dom = event.page && !event.page.frame?.length ? replayEvent(event.dom) : null;
    if (!event.page || !dom) continue;
    const replay = found.get(event.page.target) ?? { target: event.page.target, title: '', events: [] };
    replay.title = event.page.title || replay.title || event.page.url;
    replay.events.push(dom);
    found.set(replay.target, replay);
  }
  const whole = [...found.values()].filter((replay) => replay.events.length > 1 && replay.events.some((event) => event.type === snapshot));
  for (const replay of whole) replay.events.sort((a, b) => a.timestamp - b.timestamp);
  return whole;
}
