import type { Call } from '../backend/rights';
import type { FilteredList } from '../lib/filters';

export const pages = ['inbox', 'alerts', 'findings', 'history', 'recordings', 'procedures', 'gatekeeper', 'agents', 'team', 'settings', 'welcome'] as const;

/** The call that a page stands on: who may not make it has no use of the page. */
export const needs: Readonly<Record<(typeof pages)[number], Call>> = {
  inbox: 'GET /api/human/operations', alerts: 'GET /api/attempts', findings: 'GET /api/recordings', history: 'GET /api/human/operations', recordings: 'GET /api/recordings', procedures: 'GET /api/procedures',
  gatekeeper: 'GET /api/gate/rules', agents: 'GET /api/agents', team: 'GET /api/team/board', settings: 'GET /api/phone', welcome: 'GET /api/settings',
};

export type Page = (typeof pages)[number];

/** The fragment of an address: '#/recordings/rec_1/a12/findings'. */
export function placeOf(page: Page, ...parts: string[]): string {
  return ['#', page, ...parts.filter(Boolean).map(encodeURIComponent)].join('/');
}

/** The list whose filter a place has in its address; '' where it has none. The history's statistics have their own, its attention none. */
function listOf(page: Page, id: string): FilteredList | '' {
  if (page === 'history') return id === 'statistics' ? 'statistics' : id === 'attention' ? '' : 'history';
  return page === 'inbox' ? 'inbox' : '';
}

/** Where the page stands, kept in the address's fragment, so that a reload and the back key work. */
export class Route {
  page = $state<Page>('inbox');
  /** The operation or the recording that is open, or ''. */
  id = $state('');
  /** Of a recording: the action that is looked at first, and the page of its operation that one came from; or ''. */
  step = $state('');
  from = $state('');
  /** What the address asks for and there is not, or ''. */
  unknown = $state('');
  /** Of each list the filter as an address has it. It stays while one is elsewhere. */
  readonly queries = $state<Record<FilteredList, string>>({ inbox: '', history: '', statistics: '' });

  constructor() {
    this.#read();
  }

  start(): () => void {
    const read = (): void => this.#read();
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }

  /** Goes to a place; a list there keeps its filter. */
  go(page: Page, id = '', step = '', from = ''): void {
    this.#go(page, id, step, from, false);
  }

  /** Filters a list, and goes there unless it is on screen. With `over` the address takes the place of the last, as while one types. */
  filter(list: FilteredList, query: string, over = false): void {
    this.queries[list] = query;
    const page = list === 'statistics' ? 'history' : list;
    const shown = this.list === list;
    this.#go(page, shown ? this.id : list === 'statistics' ? list : '', '', '', over && shown);
  }

  /** Goes to a list, filtered. */
  show(list: FilteredList, query: string): void {
    this.queries[list] = query;
    if (list === 'statistics') this.go('history', list);
    else this.go(list);
  }

  /** The list that is on screen, by itself or beside what is open; '' where none is filtered. */
  get list(): FilteredList | '' {
    return this.unknown ? '' : listOf(this.page, this.id);
  }

  #go(page: Page, id: string, step: string, from: string, over: boolean): void {
    Object.assign(this, { page, id, step, from, unknown: '' });
    const list = listOf(page, id);
    const query = list && this.queries[list];
    const hash = placeOf(page, id, step, from) + (query && `?${query}`);
    if (window.location.hash === hash) return;
    try {
      if (over) window.history.replaceState(null, '', hash);
      else window.history.pushState(null, '', hash);
    } catch {
      // A browser that has had too many addresses in a short time keeps the last; the page goes on all the same.
    }
  }

  #read(): void {
    const [place = '', ...rest] = window.location.hash.replace(/^#\//, '').split('?');
    const [page = '', id = '', step = '', from = ''] = place.split('/');
    const known = pages.find((one) => one === page);
    this.page = known ?? 'inbox';
    this.unknown = known ? '' : page;
    this.id = decodeURIComponent(id);
    this.step = decodeURIComponent(step);
    this.from = decodeURIComponent(from);
    const list = known && listOf(known, this.id);
    if (list) this.queries[list] = rest.join('?');
  }
}
