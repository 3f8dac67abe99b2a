import { ProceduresApi } from '../../backend/procedures';
import { isEmpty } from '../../lib/answer';
import type { ProcedureOffer, RunOfProcedure } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { fieldOf, lacking } from '../../state/procedures.svelte';
import { errorText } from '../../state/sentences.svelte';
import { Performing } from './performing.svelte';
import { over } from './run';

/** A procedure that covers what a request asks for, with the values that the request says; and its run, once one was begun. */
export class Offering {
  readonly View = () => import('./Offer.svelte');
  readonly Decide = () => import('./Decide.svelte');
  offer = $state.raw<ProcedureOffer>();
  values = $state<Record<string, string>>({});
  /** What is wrong with values, by their parameters. */
  wrong = $state<Record<string, string>>({});
  trouble = $state('');
  busy = $state(false);
  readonly performing: Performing;
  readonly #api: ProceduresApi;
  #read = false;

  /** A run has the work: nothing is done by hand beside it. */
  readonly running = $derived.by(() => !!this.performing.run && !over(this.performing.run));
  /** Every parameter has a value. */
  readonly known = $derived.by(() => !!this.offer && Object.keys(lacking(this.offer.parameters, this.values)).length === 0);
  /** To run it is what one would do: little hangs on it, nothing is missing, and the work was not begun by hand. */
  readonly usual = $derived.by(() => {
    const { draft, recording, recorded, barred } = this.opened;
    return this.known && this.offer?.risk_level === 'low' && !this.performing.run && !barred && !recording && recorded.length === 0 && !draft.form.verdict && isEmpty(draft.form);
  });

  constructor(private readonly opened: OpenOperation) {
    this.#api = new ProceduresApi(opened.app.api.to);
    this.performing = new Performing(opened);
  }

  /** Reads what is offered, once. Without an offer, the work is done by hand as always. */
  async load(): Promise<void> {
    if (this.#read) return;
    this.#read = true;
    try {
      const { offers, run } = await this.#api.offers(this.opened.id);
      if (run) this.#begun(run);
      const offer = offers[0];
      if (!offer) return;
      this.values = Object.fromEntries(offer.parameters.map(({ name }, i) => [name, offer.values[i]?.value ?? '']));
      this.offer = offer;
    } catch {
      this.#read = false;
    }
  }

  #begun(run: RunOfProcedure): void {
    this.offer = undefined;
    this.performing.accept(run);
  }

  /** Runs it for the request, with the values as they stand. */
  async take(): Promise<void> {
    const { offer, opened } = this;
    if (!offer || this.busy) return;
    this.trouble = '';
    this.wrong = lacking(offer.parameters, this.values);
    if (Object.keys(this.wrong).length) return;
    this.busy = true;
    try {
      this.#begun(await this.#api.take(opened.id, offer, $state.snapshot(this.values)));
    } catch (error) {
      const name = fieldOf(error);
      if (name in this.values) this.wrong = { [name]: errorText(error, 'beside') };
      else this.trouble = errorText(error);
    }
    this.busy = false;
  }

  /** How it is run. What little hangs on has the usual key, what much hangs on a chord of its own, and the rest none. */
  command(): Command {
    const { opened } = this;
    const risky = this.offer?.risk_level === 'high' || this.offer?.risk_level === 'critical';
    return {
      id: 'offer-run', label: m.proc_offer_run, group: 'answer', keys: this.usual ? ['Mod+Enter'] : risky ? ['Mod+Shift+Enter'] : [], risky: () => risky,
      when: () => !!this.offer && opened.ready && !opened.barred && !opened.recording && !this.busy, run: () => void this.take(),
    };
  }
}
