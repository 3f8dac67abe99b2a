import type { AnswerForm } from './answer';
import type { Action, FieldSource, Recording, Transfer, UiElement, WebPage } from './wire';

/** Work in a browser, as the console shows it: pages of a visit, what was picked from them, what was downloaded. */

/** A page that was visited, whatever tab it was in; its place within the page is left aside. */
export interface Visited {
  key: string;
  url: string;
  title: string;
}

const keyOf = (page: WebPage): string => page.url.replace(/#.*$/, '');

/** What to call a page: its title, or else where it is. */
export function pageName(page: { url: string; title?: string }): string {
  return page.title?.trim() || placeOf(page.url) || page.url;
}

/** Host and path of an address, '' where it has none. */
export function placeOf(url: string): string {
  try {
    const { host, pathname } = new URL(url);
    return host ? host + (pathname === '/' ? '' : pathname) : '';
  } catch {
    return '';
  }
}

/** The pages that were visited, in the order they were first seen, and which of them was last looked at. */
export function visited(actions: readonly Action[]): { pages: Visited[]; now: number; page: WebPage | undefined } {
  const pages = new Map<string, Visited>();
  let last: WebPage | undefined;
  for (const { page, type } of actions) {
    if (!page?.url || type === 'close_page') continue;
    last = page;
    const key = keyOf(page);
    const known = pages.get(key);
    if (!known) pages.set(key, { key, url: page.url, title: pageName(page) });
    else if (page.title?.trim()) known.title = page.title;
  }
  const all = [...pages.values()];
  return { pages: all, now: last ? all.findIndex((page) => page.key === keyOf(last as WebPage)) : -1, page: last };
}

/** The files that came, in order, each under the id of its action. */
export function downloads(actions: readonly Action[]): { id: string; file: Transfer }[] {
  return actions.flatMap((action) => (action.type === 'download' ? (action.transfers ?? []).map((file) => ({ id: action.action_id, file })) : []));
}

/** Whether an action shows another page than the one before it: then the page's address is said above it. */
export function turns(before: Action | undefined, action: Action): boolean {
  return !!action.page?.url && (action.page.target !== before?.page?.target || keyOf(action.page) !== (before?.page ? keyOf(before.page) : ''));
}

/** How the element of an action is found again, frame first; '' where nothing is known. */
export function selectorOf(action: { element?: UiElement; page?: WebPage }): string {
  const best = action.element?.selectors?.find((one) => one?.length)?.join(' >>> ') ?? '';
  const frame = action.page?.frame?.length ? `frame[${action.page.frame.join('.')}] > ` : '';
  return best && frame + best;
}

/** The last pick of each field. */
export function picks(actions: readonly Action[]): Map<string, Action> {
  const last = new Map<string, Action>();
  for (const action of actions) if (action.type === 'pick' && action.pick?.field) last.set(action.pick.field, action);
  return last;
}

/** The picture that shows what was picked. */
export function cropOf(action: Action): string {
  return action.after ?? action.before ?? '';
}

/** When an action was done, by the clock on the wall, in milliseconds. */
export function wallTime(recording: Recording, action: Action): number {
  return Date.parse(recording.started_at) + action.at_ns / 1e6;
}

/** Where the value of a field comes from when an action picked it. */
export function sourceOf(recording: Recording, action: Action): FieldSource {
  const url = action.page?.frame_url || action.page?.url;
  const selector = selectorOf(action);
  const picture = cropOf(action);
  return {
    recording_id: recording.recording_id,
    action_id: action.action_id,
    picked: action.pick?.text ?? '',
    at: new Date(wallTime(recording, action)).toISOString(),
    ...(url && { url }),
    ...(selector && { selector }),
    ...(picture && { picture }),
  };
}

/**
 * Fills a field with what was picked for it, unless that was done already or a later pick filled it. What was typed
 * after the pick stays, and the pick is noted beside it. `typedAt` is when it was last typed, in milliseconds; 0: not.
 * Returns whether anything changed.
 */
export function fill(form: AnswerForm, recording: Recording, action: Action, typedAt: number): boolean {
  const field = action.pick?.field ?? '';
  const known = form.field_sources[field];
  const source = sourceOf(recording, action);
  if (known && (known.at > source.at || (known.recording_id === source.recording_id && known.action_id === source.action_id))) return false;
  const value = form.fields[field] ?? '';
  const own = value.trim() !== '' && value !== known?.picked;
  if (own && typedAt > wallTime(recording, action)) form.field_sources[field] = corrected(source, value);
  else {
    form.fields[field] = source.picked;
    form.field_sources[field] = source;
  }
  return true;
}

/** A source after the value was changed by hand: it says so for as long as the value is not what was picked. */
export function corrected(source: FieldSource, value: string): FieldSource {
  if (value !== source.picked) return { ...source, corrected: true };
  const same = { ...source };
  delete same.corrected;
  return same;
}

/** Rows of a table or list that stands in a field as JSON; null where it is text. */
export function rowsOf(value: string): string[][] | null {
  if (!value.startsWith('[')) return null;
  try {
    const parsed: unknown = JSON.parse(value);
    if (!Array.isArray(parsed) || !parsed.length) return null;
    const rows = parsed.map((row: unknown) => (Array.isArray(row) ? row : [row]).map((cell: unknown) => (cell === null || cell === undefined ? '' : String(cell))));
    return rows.every((row) => row.length > 0) ? rows : null;
  } catch {
    return null;
  }
}
