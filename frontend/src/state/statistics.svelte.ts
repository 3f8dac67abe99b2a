import type { Api } from '../backend/api';
import { zone, type Counted } from '../lib/statistics';
import type { HistoryStatistics } from '../lib/wire';
import { errorText } from './sentences.svelte';

export const periods = [7, 30, 90, 365] as const;

/** What the server counted for the filter that is shown. Old numbers stay until there are new ones. */
export class Statistics {
  days = $state(30);
  kind = $state('');
  agent = $state('');
  project = $state('');
  risk = $state('');
  numbers = $state.raw<HistoryStatistics>();
  loading = $state(false);
  trouble = $state('');
  /** The projects there are to choose from. */
  projects = $state.raw<string[]>([]);
  #asked = 0;

  constructor(private readonly api: Api) {}

  /** The filter, as lists and exports take it, too: the same requests. */
  get query(): Counted {
    const { numbers } = this;
    return { action_type: this.kind, agent_id: this.agent, project: this.project, risk: this.risk, zone: zone(), from: numbers?.from, to: numbers?.to };
  }

  readonly filtered = $derived(!!(this.kind || this.agent || this.project || this.risk));

  clear(): void {
    Object.assign(this, { kind: '', agent: '', project: '', risk: '' });
    void this.load();
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      const numbers = await this.api.statistics({ ...this.query, from: undefined, to: undefined, days: this.days });
      if (asked !== this.#asked) return;
      this.numbers = numbers;
      this.trouble = '';
      if (!this.project) this.projects = numbers.projects.map(({ name }) => name).filter(Boolean);
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}
