import type { Api } from '../backend/api';
import { zone, type Counted } from '../lib/statistics';
import type { AttentionReport } from '../lib/wire';
import type { Route } from './route.svelte';
import { errorText } from './sentences.svelte';

export const periods = [7, 30, 90] as const;
const usual = 30;

/** What the server counted of people's attention, over the days that the address has. An old report stays until there is a new one. */
export class Attention {
  report = $state.raw<AttentionReport>();
  loading = $state(false);
  trouble = $state('');
  #asked = 0;

  readonly days = $derived.by(() => periods.find((n) => String(n) === this.route.step) ?? usual);

  constructor(
    private readonly api: Api,
    private readonly route: Pick<Route, 'step' | 'go'>,
  ) {}

  /** The requests that were counted, as lists and exports take it. */
  get query(): Counted {
    return { zone: zone(), from: this.report?.from, to: this.report?.to };
  }

  show(days: number): void {
    this.route.go('history', 'attention', days === usual ? '' : String(days));
  }

  async load(): Promise<void> {
    const asked = ++this.#asked;
    this.loading = true;
    try {
      const report = await this.api.attention({ days: this.days, zone: zone() });
      if (asked !== this.#asked) return;
      this.report = report;
      this.trouble = '';
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error);
    } finally {
      if (asked === this.#asked) this.loading = false;
    }
  }
}
