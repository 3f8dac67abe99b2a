export type Page = 'inbox' | 'history' | 'recordings' | 'agents' | 'settings' | 'welcome';

const pages: readonly string[] = ['inbox', 'history', 'recordings', 'agents', 'settings', 'welcome'];

/** Where the page stands, kept in the address's fragment, so that a reload and the back key work. */
export class Route {
  page = $state<Page>('inbox');
  /** The operation or the recording that is open, or ''. */
  id = $state('');

  constructor() {
    this.#read();
  }

  start(): () => void {
    const read = (): void => this.#read();
    window.addEventListener('hashchange', read);
    return () => window.removeEventListener('hashchange', read);
  }

  go(page: Page, id = ''): void {
    this.page = page;
    this.id = id;
    const hash = `#/${page}${id ? '/' + encodeURIComponent(id) : ''}`;
    if (window.location.hash !== hash) window.history.pushState(null, '', hash);
  }

  #read(): void {
    const [page = '', id = ''] = window.location.hash.replace(/^#\//, '').split('/');
    this.page = pages.includes(page) ? (page as Page) : 'inbox';
    this.id = decodeURIComponent(id);
  }
}
