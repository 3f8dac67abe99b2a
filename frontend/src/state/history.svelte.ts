import type { Api } from '../backend/api';
import { kindOf } from '../kinds';
import { statistics, type Statistics } from '../lib/statistics';
import type { Kind, Operation } from '../lib/wire';
import { PagedList, type Part } from './pagedlist.svelte';
import { ticker } from './ticker.svelte';

export type Outcome = 'closed' | 'completed' | 'declined' | 'cancelled';
export const outcomes: readonly Outcome[] = ['closed', 'completed', 'declined', 'cancelled'];

const page = 50;
const sample = 500;
const samples = 4;

/** What has ended: found by its text, filtered, read page by page; and the figures of the last days. */
export class History extends PagedList<Operation> {
  kind = $state<Kind | ''>('');
  agent = $state('');
  outcome = $state<Outcome>('closed');
  /** Of kinds that end in ways of their own, in place of the outcome. */
  end = $state('');

  days = $state(30);
  counted = $state.raw<Operation[]>([]);
  /** There are more operations than were counted. */
  cut = $state(false);
  /** Changes at midnight only, so that the figures are not counted again every second. */
  readonly #today = $derived(new Date(ticker.now).setHours(23, 59, 59, 0));
  readonly figures = $derived<Statistics>(statistics(this.counted, this.#today, this.days, (op) => kindOf(op).shade));
  /** How the kind that is filtered by is shown, where it is by itself. */
  readonly own = $derived(this.kind ? kindOf({ action_type: this.kind }).history : undefined);
  readonly filtered = $derived(!!this.query.trim() || !!this.kind || !!this.agent || this.outcome !== 'closed');

  constructor(private readonly api: Api) {
    super();
  }

  clear(): void {
    this.query = '';
    this.kind = '';
    this.agent = '';
    this.outcome = 'closed';
    this.end = '';
    void this.load();
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

  protected async ask(cursor?: string): Promise<Part<Operation>> {
    const how = this.own ? this.own.query(this.end) : { state: this.outcome };
    const part = await this.api.operations({ ...how, action_type: this.kind, agent_id: this.agent, q: this.query.trim(), limit: page, order: 'recent', cursor });
    return { rows: part.operations, next: part.next };
  }

  protected id(op: Operation): string {
    return op.operation_id;
  }
}
