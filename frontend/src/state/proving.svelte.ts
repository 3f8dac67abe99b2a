import type { ProofNeeded } from '../lib/wire';

/** A call that waits for proof that a person is there. */
export interface Asked {
  needed: ProofNeeded;
  /** Ends it: with what proves it, or with '' for no. */
  done: (proof: string) => void;
}

/** Asks the operator for proof, for one call after the other. */
export class Proving {
  #waiting = $state.raw<readonly Asked[]>([]);
  readonly current = $derived(this.#waiting[0] ?? null);

  ask = (needed: ProofNeeded): Promise<string> =>
    new Promise((resolve) => {
      const asked: Asked = {
        needed,
        done: (proof) => {
          this.#waiting = this.#waiting.filter((other) => other !== asked);
          resolve(proof);
        },
      };
      this.#waiting = [...this.#waiting, asked];
    });
}
