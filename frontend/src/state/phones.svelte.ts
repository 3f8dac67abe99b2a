import { PhonesApi } from '../backend/phones';
import type { Api } from '../backend/api';
import type { Pairing, Phone, PhoneState } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** The door for phones, and those that are paired. */
export class Phones {
  state = $state.raw<PhoneState | null>(null);
  /** The code on screen. */
  pairing = $state.raw<Pairing | null>(null);
  busy = $state(false);
  trouble = $state('');
  /** The phone or tablet that this page is on. */
  readonly here = $derived<Phone | undefined>(this.state?.devices.find((phone) => phone.this));
  readonly #api: PhonesApi;

  constructor(api: Api) {
    this.#api = new PhonesApi(api.to);
  }

  load(): Promise<boolean> {
    return this.#try(async () => (this.state = await this.#api.state()));
  }

  allow(on: boolean): Promise<boolean> {
    return this.#try(async () => {
      this.pairing = null;
      this.state = await this.#api.allow(on);
    });
  }

  pair(): Promise<boolean> {
    return this.#try(async () => (this.pairing = await this.#api.pair()));
  }

  unpair(id: string): Promise<boolean> {
    return this.#try(async () => {
      await this.#api.unpair(id);
      // This page's own session has ended with it.
      if (id !== this.here?.id) this.state = await this.#api.state();
    });
  }

  async #try(work: () => Promise<unknown>): Promise<boolean> {
    this.busy = true;
    try {
      await work();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
