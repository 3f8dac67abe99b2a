import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import type { ProofRequirements, StepUp } from '../lib/wire';
import { m } from '../paraglide/messages';
import { passkeyRefused, stepUpOf } from './passkeys';
import { errorText } from './sentences.svelte';

/** What needs proof that a person is there and what gives it, as read from the server and changed there. */
export class StepUpSettings {
  state = $state.raw<StepUp>();
  busy = $state(false);
  trouble = $state('');

  readonly #calls;

  constructor(private readonly api: Api) {
    this.#calls = stepUpOf(api);
  }

  load = (): Promise<boolean> => this.#do(() => this.#calls.read());
  setRequirements = (policy: ProofRequirements): Promise<boolean> => this.#do(() => this.#calls.setRequirements(policy));
  setPIN = (pin: string): Promise<boolean> => this.#do(() => this.#calls.setPIN(pin));
  removePIN = (): Promise<boolean> => this.#do(() => this.#calls.removePIN());
  setSystem = (on: boolean): Promise<boolean> => this.#do(() => this.#calls.setSystem(on));
  addPasskey = (name: string): Promise<boolean> => this.#do(() => this.#calls.addPasskey(name));
  removePasskey = (id: string): Promise<boolean> => this.#do(() => this.#calls.removePasskey(id));
  clearNotices = (): Promise<boolean> => this.#do(() => this.#calls.clearNotices());

  /** The console at an address at which passkeys can be registered, with a code that signs in there. */
  async link(at: string): Promise<string> {
    try {
      return `${at}/#code=${encodeURIComponent((await this.api.code()).code)}`;
    } catch (error) {
      this.trouble = errorText(error);
      return '';
    }
  }

  /** Whether it was done. Who did not want to prove that they are there sees no error. */
  async #do(call: () => Promise<StepUp>): Promise<boolean> {
    if (this.busy) return false;
    this.busy = true;
    this.trouble = '';
    try {
      this.state = await call();
      return true;
    } catch (error) {
      if (passkeyRefused(error)) this.trouble = m.proof_passkey_refused();
      else if (!(error instanceof Problem && error.proof)) this.trouble = errorText(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
