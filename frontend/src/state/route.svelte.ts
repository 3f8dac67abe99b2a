import type { Call } from '../backend/rights';

export const pages = ['inbox', 'alerts', 'findings', 'history', 'recordings', 'gatekeeper', 'agents', 'settings', 'welcome'] as const;

/** The call that a page stands on: who may not make it has no use of the page. */
export const needs: Readonly<Record<(typeof pages)[number], Call>> = {
  inbox: 'GET /api/human/operations', alerts: 'GET /api/attempts', findings: 'GET /api/recordings', history: 'GET /api/human/operations', recordings: 'GET /api/recordings',
  gatekeeper: 'GET /api/gate/rules', agents: 'GET /api/agents', settings: 'GET /api/phone', welcome: 'GET /api/settings',
};

export type Page = (typeof pages)[number];

/** The fragment of an address: '#/recordings/rec_1/a12/findings'. */
export function placeOf(page: Page, ...parts: string[]): string {
  return ['#', page, ...parts.filter(Boolean).map(encodeURIComponent)].join('/');
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

  constructor() {
    this.#read();
  }

  start(): () => void {
    const read = (): void => this.#read();
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }

  go(page: Page, id = '', step = '', from = ''): void {
    Object.assign(this, { page, id, step, from, unknown: '' });
    const hash = placeOf(page, id, step, from);
    if (window.location.hash !== hash) window.history.pushState(null, '', hash);
  }

  #read(): void {
    const [page = '', id = '', step = '', from = ''] = window.location.hash.replace(/^#\//, '').split('/');
    const known = pages.find((one) => one === page);
    this.page = known ?? 'inbox';
    this.unknown = known ? '' : page;
    this.id = decodeURIComponent(id);
    this.step = decodeURIComponent(step);
    this.from = decodeURIComponent(from);
  }
}
