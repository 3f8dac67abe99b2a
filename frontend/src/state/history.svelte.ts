import type { Api, Query } from '../backend/api';
import { statistics, type Statistics } from '../lib/statistics';
import type { Kind, Operation } from '../lib/wire';
import { wordsOf } from './roster.svelte';
import { ticker } from './ticker.svelte';

export type Outcome = 'closed' | 'completed' | 'declined' | 'cancelled';
export const outcomes: readonly Outcome[] = ['closed', 'completed', 'declined', 'cancelled'];

const pause = 200;
const page = 50;
const sample = 500;
const samples = 4;

/** What has ended: found by its text, filtered, read page by page; and the figures of the last days. */
export class History {
  query = $state('');
  kind = $state<Kind | ''>('');
  agent = $state('');
  outcome = $state<Outcome>('closed');
  rows = $state.raw<Operation[]>([]);
  /** The query the rows were found with; it trails `query` by a pause. */
  found = $state('');
  loaded = $state(false);
  loading = $state(false);
  trouble = $state('');
  more = $state(false);

  days = $state(30);
  counted = $state.raw<Operation[]>([]);
  /** There are more operations than were counted. */
  cut = $state(false);
  /** Changes at midnight only, so that the figures are not counted again every second. */
  readonly #today = $derived(new Date(ticker.now).setHours(23, 59, 59, 0));
  readonly figures = $derived<Statistics>(statistics(this.counted, this.#today, this.days));
  readonly filtered = $derived(!!this.query.trim() || !!this.kind || !!this.agent || this.outcome !== 'closed');

  #next = '';
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly api: Api) {}

  search(query: string): void {
    this.query = query;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.load(), pause);
  }

  clear(): void {
    this.query = '';
    this.kind = '';
    this.agent = '';
    this.outcome = 'closed';
    void this.load();
  }

  /** Reads the first page anew. An answer that was overtaken by a later question is dropped. */
  async load(): Promise<void> {
    clearTimeout(this.#timer);
    const asked = ++this.#asked;
    const query = this.query;
    this.loading = true;
    try {
      const first = await this.api.operations(this.#filter());
      if (asked !== this.#asked) return;
      this.rows = first.operations;
      this.#next = first.next ?? '';
      this.more = !!this.#next;
      this.found = query;
      this.loaded = true;
      this.trouble = '';
    } catch (error) {
      if (asked === this.#asked) this.trouble = wordsOf(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  /** Reads the next page, unless there is none or one is under way. */
  async further(): Promise<void> {
    if (!this.#next || this.loading) return;
    const asked = this.#asked;
    this.loading = true;
    try {
      const next = await this.api.operations({ ...this.#filter(), cursor: this.#next });
      if (asked !== this.#asked) return;
      const known = new Set(this.rows.map((op) => op.operation_id));
      this.rows = [...this.rows, ...next.operations.filter((op) => !known.has(op.operation_id))];
      this.#next = next.next ?? '';
      this.more = !!this.#next;
      this.trouble = '';
    } catch (error) {
      if (asked === this.#asked) this.trouble = wordsOf(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }

  /** Reads what the figures are counted from: the latest operations, up to a limit that is said. */
  async count(): Promise<void> {
    const from = new Date(this.#today);
    from.setDate(from.getDate() - this.days);
    try {
      const all: Operation[] = [];
      let cursor: string | undefined;
      let reached = false;
      for (let i = 0; i < samples && !reached; i++) {
        const part = await this.api.operations({ limit: sample, cursor });
        all.push(...part.operations);
        cursor = part.next;
        reached = !cursor || Date.parse(all.at(-1)?.created_at ?? '') < from.getTime();
      }
      this.counted = all;
      this.cut = !reached;
    } catch {
      // Without figures the list still serves; its own trouble is said.
    }
  }

  #filter(): Query {
    return { state: this.outcome, action_type: this.kind, agent_id: this.agent, q: this.query.trim(), limit: page, order: 'recent' };
  }
}
