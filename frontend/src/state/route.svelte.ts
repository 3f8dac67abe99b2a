export const pages = ['inbox', 'alerts', 'findings', 'history', 'recordings', 'gatekeeper', 'agents', 'settings', 'welcome'] as const;

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

  constructor() {
    this.#read();
  }

  start(): () => void {
    const read = (): void => this.#read();
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }

  go(page: Page, id = '', step = '', from = ''): void {
    Object.assign(this, { page, id, step, from });
    const hash = placeOf(page, id, step, from);
    if (window.location.hash !== hash) window.history.pushState(null, '', hash);
  }

  #read(): void {
    const [page = '', id = '', step = '', from = ''] = window.location.hash.replace(/^#\//, '').split('/');
    this.page = pages.find((known) => known === page) ?? 'inbox';
    this.id = decodeURIComponent(id);
    this.step = decodeURIComponent(step);
    this.from = decodeURIComponent(from);
  }
}
