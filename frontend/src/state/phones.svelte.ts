import { PhonesApi } from '../backend/phones';
import type { Api } from '../backend/api';
import type { Pairing, Phone, PhoneState } from '../lib/wire';
import { Trying } from './trying.svelte';

/** The door for phones, and those that are paired. */
export class Phones extends Trying {
  state = $state.raw<PhoneState | null>(null);
  /** The code on screen. */
  pairing = $state.raw<Pairing | null>(null);
  /** The phone or tablet that this page is on. */
  readonly here = $derived<Phone | undefined>(this.state?.devices.find((phone) => phone.this));
  readonly #api: PhonesApi;

  constructor(api: Api) {
    super();
    this.#api = new PhonesApi(api.to);
  }

  load(): Promise<boolean> {
    return this.try(async () => (this.state = await this.#api.state()));
  }

  allow(on: boolean): Promise<boolean> {
    return this.try(async () => {
      this.pairing = null;
      this.state = await this.#api.allow(on);
    });
  }

  pair(): Promise<boolean> {
    return this.try(async () => (this.pairing = await this.#api.pair()));
  }

  confirm(id: string): Promise<boolean> {
    return this.try(async () => (this.state = await this.#api.confirm(id)));
  }

  unpair(id: string): Promise<boolean> {
    return this.try(async () => {
      await this.#api.unpair(id);
      // This page's own session has ended with it.
      if (id !== this.here?.id) this.state = await this.#api.state();
    });
  }
}
