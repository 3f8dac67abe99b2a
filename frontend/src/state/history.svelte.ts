import type { Api, Query } from '../backend/api';
import { kindOf } from '../kinds';
import { anyState, counted, decodeFilters, encodeFilters, withFilter, withoutFilters, type FilterKey, type Filters } from '../lib/filters';
import { zone, type Counted } from '../lib/statistics';
import type { Kind, Operation } from '../lib/wire';
import { PagedList, type Part } from './pagedlist.svelte';
import type { Route } from './route.svelte';
import { ownEnds } from './views.svelte';

export type { Query };
export const outcomes = ['closed', 'completed', 'declined', 'cancelled', anyState] as const;
export type Outcome = (typeof outcomes)[number];

const page = 50;
const pause = 200;

/** What has ended: filtered by what the address says, found by its text, read page by page. */
export class History extends PagedList<Operation> {
  /** Of the figures that kinds have of their own. */
  days = $state(30);
  #typing: ReturnType<typeof setTimeout> | undefined;

  readonly #read = $derived.by(() => decodeFilters('history', this.route.queries.history, ownEnds));
  readonly filter = $derived.by<Filters>(() => this.#read.filters);
  readonly ignored = $derived.by(() => this.#read.ignored);
  /** How the kind that is filtered by is shown, where it is by itself. */
  readonly own = $derived.by(() => (this.filter.kind && !counted(this.filter) ? kindOf({ action_type: this.filter.kind }).history : undefined));
  readonly filtered = $derived.by(() => Object.keys(this.filter).length > 0 || !!this.query.trim());

  constructor(
    private readonly api: Api,
    private readonly route: Pick<Route, 'queries' | 'filter'>,
  ) {
    super();
  }

  put(key: FilterKey, value: string | undefined): void {
    this.#show(withFilter(this.filter, key, value));
  }

  unset(keys: readonly FilterKey[]): void {
    this.#type(keys.includes('q') ? '' : this.query);
    this.#show(withoutFilters(this.filter, keys));
  }

  clear(): void {
    this.#type('');
    this.#show({});
  }

  /** Searches at the next pause in typing; the address follows then. */
  override search(query: string): void {
    this.#type(query);
    this.#typing = setTimeout(() => {
      this.#typing = undefined;
      const before = this.filter.q ?? '';
      if (query === before) return;
      this.#show(withFilter(this.filter, 'q', query), !!before);
    }, pause);
  }

  /** Reads what the address asks for. To be called whenever it changes. */
  take(): void {
    if (!this.#typing) this.query = this.filter.q ?? '';
    void this.load();
  }

  /** Lists the requests behind a number of the statistics, open ones too. */
  show({ action_type, agent_id, project, risk, end, from, to, hour }: Counted): void {
    const filters = { kind: action_type, agent: agent_id, project, risk, end, from, to, hour: hour ? String(hour) : undefined, state: end ? undefined : anyState };
    this.route.filter('history', encodeFilters(filters));
  }

  /** What the list shows, all pages of it. */
  get asked(): Query {
    const { kind, agent, project, risk, state, end, from, to, hour, q } = this.filter;
    const how = this.own ? this.own.query(end ?? '') : { end, state: end || state === anyState ? ('' as const) : ((state ?? 'closed') as Query['state']) };
    const byRequest = counted(this.filter) || (!!end && !this.own);
    return {
      ...how, action_type: (kind ?? '') as Kind | '', agent_id: agent, project, risk, from, to, ...(hour && { hour: Number(hour), zone: zone() }), q: q?.trim(), order: byRequest ? 'newest' : 'recent',
    };
  }

  protected async ask(cursor?: string): Promise<Part<Operation>> {
    const part = await this.api.operations({ ...this.asked, limit: page, cursor });
    return { rows: part.operations, next: part.next };
  }

  protected id(op: Operation): string {
    return op.operation_id;
  }

  /** Puts a filter into the address; a way of ending goes with the kind it belongs to. */
  #show(filters: Filters, over = false): void {
    this.route.filter('history', encodeFilters(decodeFilters('history', encodeFilters(filters), ownEnds).filters), over);
  }

  #type(query: string): void {
    clearTimeout(this.#typing);
    this.#typing = undefined;
    this.query = query;
  }
}
