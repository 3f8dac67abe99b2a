import { SvelteSet } from 'svelte/reactivity';
import type { Api, Page } from '../backend/api';
import { decodeFilters, encodeFilters, withFilter, withoutFilters, type FilterKey, type Filters } from '../lib/filters';
import { groupOf, inbox, passes, traits, type Group, type Trait } from '../lib/groups';
import { ended, underWay } from '../lib/life';
import type { Operation } from '../lib/wire';
import type { Operations } from './operations.svelte';
import type { Route } from './route.svelte';

const pause = 200;

/** Why a request within a range was not selected. */
export type LeftOut = 'kind' | 'ended';

/** The inbox as it is looked at: filtered by what the address says, searched, and with some of it selected. */
export class Inbox {
  /** What is typed into the search; the address follows it at the next pause. */
  query = $state('');
  /** The ids of several operations of one kind, to be answered together. */
  readonly selected = new SvelteSet<string>();
  /** What the last range went over and did not select. */
  leftOut = $state.raw<{ op: Operation; why: LeftOut }[]>([]);
  #found = $state.raw<Set<string> | null>(null);
  #asked = '';
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Where a range begins, and what was selected before it. */
  #anchor = '';
  #before: string[] = [];

  readonly #read = $derived.by(() => decodeFilters('inbox', this.route.queries.inbox));
  readonly filter = $derived.by<Filters>(() => this.#read.filters);
  readonly ignored = $derived.by(() => this.#read.ignored);
  readonly groups = $derived.by<Group[]>(() => inbox(this.#matching(), this.operations.moment, this.filter, this.member()));
  /** The rows in the order they are drawn. */
  readonly rows = $derived<Operation[]>(this.groups.flatMap((group) => group.operations));
  /** How many rows there are without a filter. */
  readonly all = $derived.by<number>(() => [...this.operations.all.values()].filter((op) => groupOf(op, this.operations.moment, this.member())).length);
  readonly filtered = $derived(Object.keys(this.filter).length > 0 || !!this.query);
  readonly chosen = $derived.by<Operation[]>(() => [...this.selected].flatMap((id) => this.operations.all.get(id) ?? []));

  constructor(
    private readonly api: Api,
    private readonly operations: Operations,
    private readonly route: Pick<Route, 'queries' | 'filter'>,
    /** Who looks, in a team; else ''. */
    readonly member: () => string = () => '',
  ) {}

  set(key: FilterKey, value: string | undefined): void {
    this.route.filter('inbox', encodeFilters(withFilter(this.filter, key, value)));
  }

  unset(keys: readonly FilterKey[]): void {
    if (keys.includes('q')) this.#type('');
    this.route.filter('inbox', encodeFilters(withoutFilters(this.filter, keys)));
    this.look();
  }

  /** Searches the full text on the server, at the next pause in typing. */
  search(query: string): void {
    this.#type(query);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.route.filter('inbox', encodeFilters(withFilter(this.filter, 'q', query)), !!this.filter.q);
      this.look();
    }, pause);
  }

  /** Takes the text of the address, which may have changed with a link or the back key. To be called whenever it does. */
  look(): void {
    const query = this.filter.q ?? '';
    if (this.#timer || query === this.#asked) return;
    this.query = query;
    this.refresh();
  }

  /** Searches again: what came meanwhile may have the words, too. */
  refresh(): void {
    this.#asked = this.filter.q ?? '';
    if (this.#asked.trim()) void this.#ask(this.#asked);
    else this.#found = null;
  }

  clear(): void {
    this.#type('');
    this.route.filter('inbox', '');
    this.look();
  }

  /** How many rows each value of one part of the filter would leave, the other parts as they are. */
  counts(key: Trait | 'state'): Map<string, number> {
    const counts = new Map<string, number>();
    for (const op of this.#matching()) {
      const group = groupOf(op, this.operations.moment, this.member());
      if (!group || !passes(op, group, this.filter, key)) continue;
      const value = key === 'state' ? group : traits[key](op);
      counts.set(value, (counts.get(value) ?? 0) + 1);
    }
    return counts;
  }

  /** Selects or unselects. Only operations of one kind are answered together: another kind begins anew. */
  toggle(op: Operation): void {
    this.leftOut = [];
    if (!this.selected.delete(op.operation_id)) {
      if (this.chosen.some((other) => other.action_type !== op.action_type)) this.selected.clear();
      this.selected.add(op.operation_id);
    }
    this.#anchor = op.operation_id;
    this.#before = [...this.selected];
  }

  /**
   * Selects all from the last row that was selected, or from the row with the id `from`, to this one, as far as they can be
   * answered together: those of one kind that are open. What an earlier range from there went over is unselected.
   */
  range(to: Operation, from: string): void {
    const rows = this.rows;
    const at = (id: string): number => rows.findIndex((op) => op.operation_id === id);
    if (!this.selected.size || at(this.#anchor) < 0) {
      this.#anchor = at(from) < 0 ? to.operation_id : from;
      this.#before = [...this.selected];
    }
    const [first, last] = [at(this.#anchor), at(to.operation_id)].sort((a, b) => a - b) as [number, number];
    const span = rows.slice(first, last + 1);
    const before = this.#before.flatMap((id) => this.operations.all.get(id) ?? []);
    const kind = (before[0] ?? rows[at(this.#anchor)])?.action_type;
    const why = (op: Operation): LeftOut | '' => (ended(op) ? 'ended' : op.action_type !== kind ? 'kind' : '');
    const fit = new Set([...before, ...span].filter((op) => !why(op)));
    this.selected.clear();
    // As they are listed: in this order they are shown and answered.
    for (const op of [...rows.filter((row) => fit.has(row)), ...fit]) this.selected.add(op.operation_id);
    this.leftOut = span.flatMap((op) => {
      const reason = why(op);
      return reason ? [{ op, why: reason }] : [];
    });
  }

  unselect(): void {
    this.selected.clear();
    this.leftOut = [];
    this.#anchor = '';
  }

  /** The row `step` rows from the one with this id, or the first. */
  neighbour(id: string, step: number): Operation | undefined {
    const at = this.rows.findIndex((op) => op.operation_id === id);
    return this.rows[at < 0 ? 0 : Math.min(this.rows.length - 1, Math.max(0, at + step))];
  }

  #type(query: string): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.query = query;
  }

  #matching(): Iterable<Operation> {
    const found = this.#found;
    const all = [...this.operations.all.values()];
    return found ? all.filter((op) => found.has(op.operation_id)) : all;
  }

  /** Finds what is open, page by page; and a plan that runs, which has ended for the server and not for the operator. */
  async #ask(query: string): Promise<void> {
    const words = query.toLowerCase();
    const here = (all: Iterable<Operation>): string[] => [...all].filter((op) => `${op.description} ${op.agent_id}`.toLowerCase().includes(words)).map((op) => op.operation_id);
    const known = [...this.operations.all.values()];
    let found: Set<string>;
    try {
      found = new Set(here(known.filter(underWay)));
      let cursor: string | undefined;
      do {
        const page: Page = await this.api.operations({ state: 'open', q: query, limit: 500, cursor });
        for (const op of page.operations) found.add(op.operation_id);
        cursor = page.next;
      } while (cursor && this.#asked === query);
    } catch {
      // Offline: what is known here is searched instead, so that typing never does nothing.
      found = new Set(here(known));
    }
    if (this.#asked === query) this.#found = found;
  }
}
