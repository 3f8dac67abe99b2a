import { SvelteSet } from 'svelte/reactivity';
import type { Api, Page } from '../backend/api';
import { inbox, noFilter, type Filter, type Group } from '../lib/groups';
import { underWay } from '../lib/life';
import type { Operation } from '../lib/wire';
import type { Operations } from './operations.svelte';

const pause = 200;

/** The inbox as it is looked at: filtered, searched, and with some of it selected. */
export class Inbox {
  filter = $state<Filter>({ ...noFilter });
  query = $state('');
  /** The ids of several operations of one kind, to be answered together. */
  readonly selected = new SvelteSet<string>();
  #found = $state.raw<Set<string> | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  readonly groups = $derived.by<Group[]>(() => inbox(this.#matching(), this.operations.moment, this.filter));
  /** The rows in the order they are drawn. */
  readonly rows = $derived<Operation[]>(this.groups.flatMap((group) => group.operations));
  readonly agents = $derived.by<string[]>(() => [...new Set([...this.operations.all.values()].map((op) => op.agent_id))].sort());
  readonly filtered = $derived(!!this.filter.kind || !!this.filter.agent || !!this.filter.state || !!this.query);
  readonly chosen = $derived.by<Operation[]>(() => [...this.selected].flatMap((id) => this.operations.all.get(id) ?? []));

  constructor(
    private readonly api: Api,
    private readonly operations: Operations,
  ) {}

  /** Searches the full text on the server, at the next pause in typing. */
  search(query: string): void {
    this.query = query;
    clearTimeout(this.#timer);
    if (!query.trim()) {
      this.#found = null;
      return;
    }
    this.#timer = setTimeout(() => void this.#ask(query), pause);
  }

  clear(): void {
    this.filter = { ...noFilter };
    this.search('');
  }

  /** Selects or unselects. Only operations of one kind are answered together: another kind begins anew. */
  toggle(op: Operation): void {
    if (this.selected.delete(op.operation_id)) return;
    if (this.chosen.some((other) => other.action_type !== op.action_type)) this.selected.clear();
    this.selected.add(op.operation_id);
  }

  /** The row `step` rows from the one with this id, or the first. */
  neighbour(id: string, step: number): Operation | undefined {
    const at = this.rows.findIndex((op) => op.operation_id === id);
    return this.rows[at < 0 ? 0 : Math.min(this.rows.length - 1, Math.max(0, at + step))];
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
      } while (cursor && this.query === query);
    } catch {
      // Offline: what is known here is searched instead, so that typing never does nothing.
      found = new Set(here(known));
    }
    if (this.query === query) this.#found = found;
  }
}
