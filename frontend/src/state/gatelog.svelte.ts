import type { GateApi } from '../backend/gate';
import type { GateDecision, Ruling } from '../lib/gatewire';
import { PagedList, type Part } from './pagedlist.svelte';

const page = 50;
const further = 200;
const most = 500;

/** The log of decisions: found by the text of a call, filtered, read page by page, and kept up with while it is looked at. */
export class GateLog extends PagedList<GateDecision> {
  decision = $state<Ruling | ''>('');
  project = $state('');
  readonly filtered = $derived(!!this.query.trim() || !!this.decision || !!this.project);

  constructor(private readonly api: GateApi) {
    super();
  }

  clear(): void {
    this.query = '';
    this.decision = '';
    this.project = '';
    void this.load();
  }

  /**
   * Takes in what was decided and answered since: new lines come to the top, and those whose question waited say how it
   * ended. What was read further down stays.
   */
  async refresh(): Promise<void> {
    if (!this.loaded || this.loading) return this.loaded ? undefined : this.load();
    const open = this.rows.findLastIndex((row) => row.outcome === 'waiting') + 1;
    await this.read(this.ask(undefined, Math.min(most, Math.max(page, open))), (first) => {
      const fresh = first.rows;
      if (JSON.stringify(fresh) === JSON.stringify(this.rows.slice(0, fresh.length)) && fresh.length >= Math.min(page, this.rows.length)) return;
      const ids = new Set(fresh.map((row) => row.decision_id));
      const joins = this.rows.some((row) => ids.has(row.decision_id));
      if (joins && first.next) this.rows = [...fresh, ...this.rows.filter((row) => !ids.has(row.decision_id))];
      else this.set(first);
    });
  }

  protected async ask(cursor = '', limit = cursor ? further : page): Promise<Part<GateDecision>> {
    const part = await this.api.decisions({ decision: this.decision, project: this.project, q: this.query.trim(), limit, cursor });
    return { rows: part.decisions, next: part.next };
  }

  protected id(row: GateDecision): string {
    return row.decision_id;
  }
}
