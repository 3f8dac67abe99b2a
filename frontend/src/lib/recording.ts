import type { Action, Bounds, Edits, Mask, RecordedEvent, Recording, Screen, WebPage } from './wire';

/** Nanoseconds in a millisecond, in a second. */
export const ms = 1e6;
export const second = 1e9;

const pad = (n: number): string => String(n).padStart(2, '0');

/** A time within a recording: '00:04', '02:47', '1:02:47'. */
export function clock(ns: number): string {
  const s = Math.max(0, Math.floor(ns / second));
  const h = Math.floor(s / 3600);
  return `${h ? `${h}:` : ''}${pad(Math.floor(s / 60) % 60)}:${pad(s % 60)}`;
}

/** Whether a recording can become a procedure: what was shown in a browser or on the desktop can. */
export const teachable = ({ options: o, removed_at: removed }: Recording): boolean => (!!o.browser || (!o.terminal && o.desktop !== false)) && !removed;

/** Whether it still records, or would after a pause. */
export function running(r: Recording | null | undefined): r is Recording & { state: 'recording' | 'paused' } {
  return r?.state === 'recording' || r?.state === 'paused';
}

/** What of it is missing: the stretches the operator chose, such as pauses, are none. */
export function faults(r: Recording): Recording['gaps'] {
  return r.gaps.filter((gap) => gap.reason !== 'paused' && gap.reason !== 'excluded');
}

/** The box around all displays, in their units: what a picture shows. */
export function desktop(screens: readonly Screen[]): Bounds {
  if (!screens.length) return { x: 0, y: 0, w: 1440, h: 900 };
  const x = Math.min(...screens.map((s) => s.x));
  const y = Math.min(...screens.map((s) => s.y));
  return { x, y, w: Math.max(...screens.map((s) => s.x + s.w)) - x, h: Math.max(...screens.map((s) => s.y + s.h)) - y };
}

/** What a picture of a page shows: the whole viewport. Null where its size is not known. */
export function viewport(page: WebPage | undefined): Bounds | null {
  return page?.w && page.h ? { x: 0, y: 0, w: page.w, h: page.h } : null;
}

/**
 * The part of a picture worth showing small: all of it, or of one much wider or higher than the place it gets the part
 * where what is marked begins.
 */
export function closeUp(whole: Bounds, mark: Bounds | undefined, aspect: number): Bounds {
  const extreme = 1.6;
  const shape = whole.w / whole.h;
  if (shape > aspect * extreme) {
    const w = whole.h * aspect * extreme;
    return { ...whole, x: whole.x + Math.min(Math.max(0, (mark?.x ?? 0) - whole.h / 4), whole.w - w), w };
  }
  if (shape < aspect / extreme) {
    const h = (whole.w / aspect) * extreme;
    return { ...whole, y: whole.y + Math.min(Math.max(0, (mark?.y ?? 0) - whole.w / 4), whole.h - h), h };
  }
  return whole;
}

/** A region in units of the desktop as the pixels of a picture of it, whole ones, none of it left out. */
export function toPixels(region: Bounds, whole: Bounds, pixelWidth: number): Bounds {
  const scale = pixelWidth / whole.w;
  const x = Math.floor((region.x - whole.x) * scale);
  const y = Math.floor((region.y - whole.y) * scale);
  return { x, y, w: Math.ceil((region.x - whole.x + region.w) * scale) - x, h: Math.ceil((region.y - whole.y + region.h) * scale) - y };
}

export function fromPixels(region: Bounds, whole: Bounds, pixelWidth: number): Bounds {
  const scale = whole.w / pixelWidth;
  return { x: whole.x + region.x * scale, y: whole.y + region.y * scale, w: region.w * scale, h: region.h * scale };
}

/** A region put within another, no smaller than `least` on a side. */
export function within(region: Bounds, whole: Bounds, least = 4): Bounds {
  const w = Math.min(Math.max(region.w, least), whole.w);
  const h = Math.min(Math.max(region.h, least), whole.h);
  return {
    x: Math.min(Math.max(region.x, whole.x), whole.x + whole.w - w),
    y: Math.min(Math.max(region.y, whole.y), whole.y + whole.h - h),
    w,
    h,
  };
}

/** The region between two corners, whichever is first. */
export function between(ax: number, ay: number, bx: number, by: number): Bounds {
  return { x: Math.min(ax, bx), y: Math.min(ay, by), w: Math.abs(ax - bx), h: Math.abs(ay - by) };
}

const seqOf = (id: string): number => Number(id.slice(1)) || 0;

/** How many of the last actions may still change while a recording runs: a picture comes, a click becomes two. */
const unsettled = 16;

/** The id after which actions are asked for again, '' for all of them. */
export function settledUntil(known: readonly Action[]): string {
  return known[known.length - 1 - unsettled]?.action_id ?? '';
}

/** Known actions up to an id, then what was answered for all after it. */
export function joined(known: readonly Action[], after: string, answered: readonly Action[]): Action[] {
  const last = after ? seqOf(after) : 0;
  return [...known.filter((action) => seqOf(action.action_id) <= last), ...answered];
}

const pointed: readonly string[] = ['click', 'double_click', 'triple_click', 'drag'];

/** Whether an action was done at a place that its picture from before shows. */
export function points(action: Action): boolean {
  return pointed.includes(action.type) || (!!action.page && (action.type === 'check' || action.type === 'choose') && action.x !== undefined);
}

/** Whether an action has something on its picture to be marked: a place, or on a page its element. */
export function marks(action: Action): boolean {
  return points(action) || (!!action.page && (action.type === 'hover' || !!action.element?.bounds.w));
}

/** The picture that shows an action: before a click, where what was clicked still stands; after anything else. */
export function pictureOf(action: Action): string {
  return (points(action) ? (action.before ?? action.after) : (action.after ?? action.before)) ?? '';
}

/** The last actions that have pictures, one for each picture, the latest last. */
export function pictured(actions: readonly Action[], n: number): Action[] {
  const found: Action[] = [];
  const seen = new Set<string>();
  for (let i = actions.length - 1; i >= 0 && found.length < n; i--) {
    const action = actions[i];
    const picture = action && pictureOf(action);
    if (!action || !picture || seen.has(picture)) continue;
    seen.add(picture);
    found.unshift(action);
  }
  return found;
}

/** Edits before anybody made any. */
export function noEdits(): Edits {
  return { version: 0, cuts: [], masked_texts: [], masks: [], words: {}, share_text: false, share_pictures: false, pictures_of: [] };
}

export const toggled = (list: readonly string[], id: string): string[] => (list.includes(id) ? list.filter((one) => one !== id) : [...list, id]);

/** The masks that lie over a picture. */
export function masksOver(masks: readonly Mask[], picture: string): Mask[] {
  return masks.filter((mask) => !mask.picture || mask.picture === picture);
}

/** What an agent gets of a recording: how many steps, and whether typed text and pictures go with them. */
export interface Share {
  steps: number;
  cut: number;
  /** Steps whose text stays hidden even where text is shared. */
  hidden: number;
  typed: number;
  text: boolean;
  pictures: number;
}

export function share(actions: readonly Action[], edits: Edits): Share {
  const kept = actions.filter((action) => !edits.cuts.includes(action.action_id));
  const typed = kept.filter((action) => action.type === 'type' || action.type === 'paste');
  const shown = kept.filter((action) => edits.share_pictures || edits.pictures_of?.includes(action.action_id));
  const pictures = new Set(shown.flatMap((action) => [action.before, action.after]).filter(Boolean));
  return {
    steps: kept.length,
    cut: actions.length - kept.length,
    hidden: kept.filter((action) => action.hidden || edits.masked_texts.includes(action.action_id)).length,
    typed: typed.length,
    text: edits.share_text,
    pictures: pictures.size,
  };
}

/** Where the pointer was, and which picture stood, at every moment: what playing back needs, in order of time. */
export interface Track {
  times: number[];
  xs: number[];
  ys: number[];
  presses: { at: number; x: number; y: number }[];
}
/** The desktop's pointer, that on pages, and pictures of either. */
export interface Tracks extends Track {
  onPage: Track;
  pictures: { at: number; id: string; page?: WebPage }[];
}

const emptyTrack = (): Track => ({ times: [], xs: [], ys: [], presses: [] });

export function emptyTracks(): Tracks {
  return { ...emptyTrack(), onPage: emptyTrack(), pictures: [] };
}

const moves: Record<string, 'desktop' | 'page'> = { move: 'desktop', press: 'desktop', release: 'desktop', page_press: 'page', page_hover: 'page', page_drag: 'page' };
const presses: readonly string[] = ['press', 'page_press'];

/** Adds events to tracks. They come by seq; a picture may carry an earlier time than the events before it. */
export function addTracks(into: Tracks, events: readonly RecordedEvent[]): Tracks {
  let late = false;
  for (const event of events) {
    const at = event.t_mono_ns;
    const where = moves[event.type];
    if (where) {
      const track = where === 'page' ? into.onPage : into;
      if (at < (track.times.at(-1) ?? 0)) continue;
      const [x, y] = event.type === 'page_drag' ? [event.to_x ?? 0, event.to_y ?? 0] : [event.x ?? 0, event.y ?? 0];
      track.times.push(at);
      track.xs.push(x);
      track.ys.push(y);
      if (presses.includes(event.type)) track.presses.push({ at, x, y });
    } else if (event.type === 'picture' && event.picture) {
      late ||= at < (into.pictures.at(-1)?.at ?? 0);
      into.pictures.push({ at, id: event.picture, ...(event.page && { page: event.page }) });
    }
  }
  if (late) into.pictures.sort((a, b) => a.at - b.at);
  return into;
}

/** The index of the last entry at or before a time, -1 before all of them. */
export function lastAt<T>(list: readonly T[], time: number, at: (entry: T) => number): number {
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(list[middle] as T) <= time) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Moves further apart than this were not one movement: the pointer stood until the later one. */
const still = 250 * ms;

/** Where the pointer was at a time, drawn straight between two moves; null before the first. */
export function pointerAt(r: Track, time: number): { x: number; y: number } | null {
  const i = lastAt(r.times, time, (at) => at);
  if (i < 0) return null;
  const x = r.xs[i] ?? 0;
  const y = r.ys[i] ?? 0;
  const t0 = r.times[i] ?? 0;
  const t1 = r.times[i + 1];
  if (t1 === undefined || t1 === t0) return { x, y };
  const from = Math.max(t0, t1 - still);
  const part = Math.max(0, (time - from) / (t1 - from));
  return { x: x + ((r.xs[i + 1] ?? x) - x) * part, y: y + ((r.ys[i + 1] ?? y) - y) * part };
}

export function pictureAt(r: Tracks, time: number): { id: string; page?: WebPage } | undefined {
  return r.pictures[Math.max(0, lastAt(r.pictures, time, (p) => p.at))];
}

/** The index of the action under way at a time, or the last one before it; 0 before all. */
export function actionAt(actions: readonly Action[], time: number): number {
  return Math.max(0, lastAt(actions, time, (action) => action.at_ns));
}

/** Nothing happening for longer is skipped to this much before what comes next, when pauses are skipped. */
const lull = 2 * second;
const lead = 700 * ms;

/** Where playing back stands after a step of real time; pauses in which nothing happens are jumped over. */
export function advanced(time: number, step: number, skip: boolean, r: Tracks, actions: readonly Action[], end: number): number {
  const next = Math.min(time + step, end);
  if (!skip) return next;
  const coming = Math.min(
    r.times[lastAt(r.times, next, (at) => at) + 1] ?? Infinity,
    r.onPage.times[lastAt(r.onPage.times, next, (at) => at) + 1] ?? Infinity,
    actions[lastAt(actions, next, (action) => action.at_ns) + 1]?.at_ns ?? Infinity,
  );
  if (coming === Infinity) return next > (actions.at(-1)?.end_ns ?? 0) + lull ? end : next;
  return coming - next > lull ? coming - lead : next;
}

/** Bytes in the largest unit that leaves a number of one to three digits before the point. */
export function size(bytes: number): { n: number; unit: 'byte' | 'kilobyte' | 'megabyte' | 'gigabyte' } {
  if (bytes < 1000) return { n: bytes, unit: 'byte' };
  if (bytes < 1e6) return { n: Math.round(bytes / 1e3), unit: 'kilobyte' };
  if (bytes < 1e9) return { n: Math.round(bytes / 1e5) / 10, unit: 'megabyte' };
  return { n: Math.round(bytes / 1e8) / 10, unit: 'gigabyte' };
}

/** How much of a limit is used, 0 to 1, whichever limit is nearer. */
export function used(r: Recording, elapsed: number): number {
  return Math.min(1, Math.max(r.max_elapsed_ns ? elapsed / r.max_elapsed_ns : 0, r.max_bytes ? r.bytes / r.max_bytes : 0));
}

/** The last change of a file the recording has seen that ends in this path. */
export function fileSeen(actions: readonly Action[], path: string): Action | undefined {
  const tail = path.replace(/^~?\/+/, '');
  if (!tail) return undefined;
  return actions.findLast((action) => {
    const now = action.file?.to ?? action.file?.path ?? '';
    return action.file?.op !== 'deleted' && (now === path || now.endsWith('/' + tail));
  });
}
