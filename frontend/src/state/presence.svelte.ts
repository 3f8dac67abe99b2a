import type { Api } from '../backend/api';
import { StepUpApi } from '../backend/stepup';
import { dangerous } from '../lib/life';
import type { Operation } from '../lib/wire';

/** Whether a phone's operator can prove here that they are there, which a phone's answers to high and critical risks need. */
export class Presence {
  #none = $state(false);

  constructor(
    private readonly api: Api,
    private readonly phone: boolean,
  ) {}

  /** Whether an operation can be denied here and nothing else. False while that is not known: the server has the last word. */
  lacks(op: Operation | undefined): boolean {
    return this.#none && !!op && dangerous(op);
  }

  /** Asks again, since a PIN may be set at the computer at any time. */
  async look(op: Operation): Promise<void> {
    if (!this.phone || !dangerous(op)) return;
    try {
      this.#none = (await new StepUpApi(this.api.to).read()).means.length === 0;
    } catch {
      this.#none = false;
    }
  }
}
