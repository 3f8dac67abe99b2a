import type { JsonObject, RecordedEvent } from './wire';

/** One event of rrweb: `type` 2 is the whole page, 4 its address and size; times are in milliseconds. */
export interface FilmEvent {
  type: number;
  timestamp: number;
  data: JsonObject;
}

/** The film of one tab, in order of time. */
export interface Film {
  target: string;
  title: string;
  events: FilmEvent[];
}

const snapshot = 2;

function filmEvent(dom: JsonObject | undefined): FilmEvent | null {
  return dom && typeof dom.type === 'number' && typeof dom.timestamp === 'number' && typeof dom.data === 'object' && dom.data !== null && !Array.isArray(dom.data) ? (dom as unknown as FilmEvent) : null;
}

/** The films among recorded events, one a tab. What came from a frame is part of no page that could be shown alone. */
export function films(events: readonly RecordedEvent[]): Film[] {
  const found = new Map<string, Film>();
  for (const event of events) {
    const dom = event.page && !event.page.frame?.length ? filmEvent(event.dom) : null;
    if (!event.page || !dom) continue;
    const film = found.get(event.page.target) ?? { target: event.page.target, title: '', events: [] };
    film.title = event.page.title || film.title || event.page.url;
    film.events.push(dom);
    found.set(film.target, film);
  }
  const whole = [...found.values()].filter((film) => film.events.length > 1 && film.events.some((event) => event.type === snapshot));
  for (const film of whole) film.events.sort((a, b) => a.timestamp - b.timestamp);
  return whole;
}
