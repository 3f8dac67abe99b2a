import type { Api } from '../backend/api';
import { decodeFilters, encodeFilters, withFilter, withoutFilters, type FilterKey, type Filters } from '../lib/filters';
import { zone, type Counted } from '../lib/statistics';
import type { HistoryStatistics } from '../lib/wire';
import type { Route } from './route.svelte';
import { errorText } from './sentences.svelte';

export const periods = [7, 30, 90, 365] as const;
const usual = '30';

/** What the server counted for the filter that the address has. Old numbers stay until there are new ones. */
export class Statistics {
  numbers = $state.raw<HistoryStatistics>();
  loading = $state(false);
  trouble = $state('');
  /** The projects there are to choose from. */
  projects = $state.raw<string[]>([]);
  #asked = 0;

  readonly #read = $derived.by(() => decodeFilters('statistics', this.route.queries.statistics));
  readonly filter = $derived.by<Filters>(() => this.#read.filters);
  readonly ignored = $derived.by(() => this.#read.ignored);
  readonly days = $derived.by(() => Number(this.filter.days ?? usual));

  constructor(
    private readonly api: Api,
    private readonly route: Pick<Route, 'queries' | 'filter'>,
  ) {}

  /** The filter, as lists and exports take it, too: the same requests. */
  get query(): Counted {
    const { numbers, filter } = this;
    return { action_type: filter.kind, agent_id: filter.agent, project: filter.project, risk: filter.risk, zone: zone(), from: numbers?.from, to: numbers?.to };
  }

  set(key: FilterKey, value: string | undefined): void {
    this.#show(withFilter(this.filter, key, key === 'days' && value === usual ? undefined : value));
  }

  unset(keys: readonly FilterKey[]): void {
    this.#show(withoutFilters(this.filter, keys));
  }

  /** Counts all requests; the period stays. */
  clear(): void {
    const { days } = this.filter;
    this.#show(days ? { days } : {});
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      const numbers = await this.api.statistics({ ...this.query, from: undefined, to: undefined, days: this.days });
      if (asked !== this.#asked) return;
      this.numbers = numbers;
      this.trouble = '';
      if (!this.filter.project) this.projects = numbers.projects.map(({ name }) => name).filter(Boolean);
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  #show(filters: Filters): void {
    this.route.filter('statistics', encodeFilters(filters));
  }
}
