import type { Api, Query } from '../backend/api';
import { kindOf } from '../kinds';
import type { Counted } from '../lib/statistics';
import type { Kind, Operation } from '../lib/wire';
import { PagedList, type Part } from './pagedlist.svelte';

export type { Query };
export type Outcome = 'closed' | 'completed' | 'declined' | 'cancelled';
export const outcomes: readonly Outcome[] = ['closed', 'completed', 'declined', 'cancelled'];

const page = 50;

/** What has ended: found by its text, filtered, read page by page. */
export class History extends PagedList<Operation> {
  kind = $state<Kind | ''>('');
  agent = $state('');
  outcome = $state<Outcome>('closed');
  /** Of kinds that end in ways of their own, in place of the outcome. */
  end = $state('');
  /** The requests behind a number of the statistics, open ones too; and that number in words. */
  behind = $state.raw<{ query: Counted; words: string }>();
  /** Of the figures that kinds have of their own. */
  days = $state(30);

  /** How the kind that is filtered by is shown, where it is by itself. */
  readonly own = $derived(this.kind && !this.behind ? kindOf({ action_type: this.kind }).history : undefined);
  readonly filtered = $derived(!!this.query.trim() || !!this.kind || !!this.agent || this.outcome !== 'closed' || !!this.behind);

  constructor(private readonly api: Api) {
    super();
  }

  clear(): void {
    Object.assign(this, { query: '', kind: '', agent: '', outcome: 'closed', end: '', behind: undefined });
    void this.load();
  }

  /** Lists the requests behind a number. */
  show({ action_type, agent_id, ...query }: Counted, words: string): void {
    Object.assign(this, { query: '', kind: action_type ?? '', agent: agent_id ?? '', outcome: 'closed', end: '', behind: { query, words } });
    void this.load();
  }

  /** What the list shows, all pages of it. */
  get asked(): Query {
    const how = this.own ? this.own.query(this.end) : { state: this.behind && this.outcome === 'closed' ? ('' as const) : this.outcome };
    return { ...this.behind?.query, ...how, action_type: this.kind, agent_id: this.agent, q: this.query.trim(), order: this.behind ? 'newest' : 'recent' };
  }

  protected async ask(cursor?: string): Promise<Part<Operation>> {
    const part = await this.api.operations({ ...this.asked, limit: page, cursor });
    return { rows: part.operations, next: part.next };
  }

  protected id(op: Operation): string {
    return op.operation_id;
  }
}
