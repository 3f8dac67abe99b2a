import type { Api } from '../backend/api';
import { decodeFilters, encodeFilters, type FilteredList, type Filters } from '../lib/filters';
import { kindOf } from '../kinds';
import type { View } from '../lib/wire';
import type { Route } from './route.svelte';
import { errorText } from './sentences.svelte';

/** The ways of ending that a kind has in the history. */
export const ownEnds = (kind: string): readonly string[] | undefined => kindOf({ action_type: kind }).history?.ends.map(({ value }) => value);

/** The filter a view stands for, as this Deskbell understands it: in the spelling of an address. */
const queryOf = ({ page, query }: Pick<View, 'page' | 'query'>): string => encodeFilters(decodeFilters(page, query, ownEnds).filters);

/** Filters that are kept on the server under names: the same for all operators, in the window and in browsers. */
export class SavedViews {
  list = $state.raw<View[]>([]);
  loaded = $state(false);
  trouble = $state('');

  constructor(
    private readonly api: Api,
    private readonly route: Pick<Route, 'queries' | 'show'>,
    /** Whether this session may read them. */
    readonly offered: boolean,
  ) {}

  async load(): Promise<void> {
    if (!this.offered) return;
    try {
      this.list = await this.api.views();
      this.loaded = true;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  of(page: FilteredList): View[] {
    return this.list.filter((view) => view.page === page);
  }

  /** The view whose filter a list has now. */
  current(page: FilteredList): View | undefined {
    const query = queryOf({ page, query: this.route.queries[page] });
    return query ? this.of(page).find((view) => queryOf(view) === query) : undefined;
  }

  /** Shows a list as a view filters it. */
  open(view: View): void {
    this.route.show(view.page, queryOf(view));
  }

  /** Keeps a filter under a name. Returns why it could not be, or ''. */
  save(name: string, page: FilteredList, filters: Filters): Promise<string> {
    return this.#change(() => this.api.putView({ name, page, query: encodeFilters(filters) }));
  }

  rename(view: View, name: string): Promise<string> {
    return this.#change(() => this.api.putView({ ...view, name }));
  }

  delete(view: View): Promise<string> {
    return this.#change(() => this.api.deleteView(view.view_id ?? ''));
  }

  async #change(work: () => Promise<unknown>): Promise<string> {
    try {
      await work();
    } catch (error) {
      return errorText(error);
    }
    await this.load();
    return '';
  }
}
