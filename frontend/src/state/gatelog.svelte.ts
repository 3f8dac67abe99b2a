import type { GateApi, LogQuery } from '../backend/gate';
import type { GateDecision, Ruling } from '../lib/gatewire';
import { wordsOf } from './roster.svelte';

const pause = 200;
const page = 50;
const further = 200;
const most = 500;

/** The log of decisions: found by the text of a call, filtered, read page by page, and kept up with while it is looked at. */
export class GateLog {
  query = $state('');
  decision = $state<Ruling | ''>('');
  project = $state('');
  rows = $state.raw<GateDecision[]>([]);
  /** The query the rows were found with; it trails `query` by a pause. */
  found = $state('');
  loaded = $state(false);
  loading = $state(false);
  trouble = $state('');
  more = $state(false);
  readonly filtered = $derived(!!this.query.trim() || !!this.decision || !!this.project);

  #next = '';
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly api: GateApi) {}

  search(query: string): void {
    this.query = query;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), pause);
  }

  clear(): void {
    this.query = '';
    this.decision = '';
    this.project = '';
    void this.load();
  }

  /** Reads the first page anew. An answer that was overtaken by a later question is dropped. */
  load(): Promise<void> {
    clearTimeout(this.#timer);
    const query = this.query;
    return this.#read(++this.#asked, { ...this.#filter(), limit: page }, (first) => {
      this.#set(first.decisions, first.next);
      this.found = query;
      this.loaded = true;
    });
  }

  /** Reads the next page, unless there is none or one is under way. */
  async further(): Promise<void> {
    if (!this.#next || this.loading) return;
    await this.#read(this.#asked, { ...this.#filter(), limit: further, cursor: this.#next }, (next) => {
      const known = new Set(this.rows.map((row) => row.decision_id));
      this.#set([...this.rows, ...next.decisions.filter((row) => !known.has(row.decision_id))], next.next);
    });
  }

  /**
   * Takes in what was decided and answered since: new lines come to the top, and those whose question waited say how it
   * ended. What was read further down stays.
   */
  async refresh(): Promise<void> {
    if (!this.loaded || this.loading) return this.loaded ? undefined : this.load();
    const open = this.rows.findLastIndex((row) => row.outcome === 'waiting') + 1;
    await this.#read(this.#asked, { ...this.#filter(), limit: Math.min(most, Math.max(page, open)) }, (first) => {
      const fresh = first.decisions;
      if (JSON.stringify(fresh) === JSON.stringify(this.rows.slice(0, fresh.length)) && fresh.length >= Math.min(page, this.rows.length)) return;
      const ids = new Set(fresh.map((row) => row.decision_id));
      const joins = this.rows.some((row) => ids.has(row.decision_id));
      if (joins && first.next) this.rows = [...fresh, ...this.rows.filter((row) => !ids.has(row.decision_id))];
      else this.#set(fresh, first.next);
    });
  }

  #set(rows: GateDecision[], next = ''): void {
    this.rows = rows;
    this.#next = next;
    this.more = !!next;
  }

  async #read(asked: number, query: LogQuery, take: (page: { decisions: GateDecision[]; next?: string }) => void): Promise<void> {
    this.loading = true;
    try {
      const part = await this.api.decisions(query);
      if (asked !== this.#asked) return;
      take(part);
      this.trouble = '';
    } catch (error) {
      if (asked === this.#asked) this.trouble = wordsOf(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  #filter(): LogQuery {
    return { decision: this.decision, project: this.project, q: this.query.trim() };
  }
}
