import type { Api } from '../../backend/api';
import { Problem } from '../../backend/http';
import type { PlanStatistics } from '../../lib/planwire';
import { errorText } from '../../state/sentences.svelte';

/** How plans were answered in the last days. */
export class PlanFigures {
  figures = $state.raw<PlanStatistics | null>(null);
  trouble = $state('');
  #asked = 0;

  constructor(private readonly api: Api) {}

  /** An answer that was overtaken by a later question is dropped. */
  async load(days: number): Promise<void> {
    const asked = ++this.#asked;
    try {
      const figures = await this.api.plans.statistics(days);
      if (asked !== this.#asked) return;
      this.figures = figures;
      this.trouble = '';
    } catch (error) {
      if (asked === this.#asked) this.trouble = error instanceof Problem && error.missing ? '' : errorText(error);
    }
  }
}
