import { tick } from 'svelte';
import { kindOf } from '../kinds';
import { field, without } from '../lib/details';
import type { Fault, Matches, Question } from '../lib/form';
import type { Json, Operation } from '../lib/wire';
import { SvelteSet } from 'svelte/reactivity';
import { loadPart } from '../lib/loading';
import type { Draft } from './draft.svelte';

/** The form that an answer is filled in with, where the request has one: what is in it, and what is wrong with that. */
export class Asked {
  /** Questions that were left, whose faults are shown from then on. */
  readonly left = new SvelteSet<string>();
  /** What is being written in the JSON view, where that is no JSON. */
  broken = $state('');
  #matches = $state.raw<Matches>();
  /** How schemas are read, loaded with the first form. */
  #lib = $state.raw<typeof import('../lib/form')>();
  readonly #places = new Map<string, HTMLElement>();
  #begun = false;

  constructor(
    private readonly draft: Draft,
    private readonly op: () => Operation | undefined,
  ) {}

  /** Whether there is anything to fill in. */
  readonly there = $derived.by(() => {
    const op = this.op();
    // The options of what is decided are its answers.
    return !!op?.details && (kindOf(op).answer === 'decision' ? ['response_schema'] : ['response_schema', 'options', 'rating']).some((name) => field(op, name) !== undefined);
  });
  /** Whether the agent gets an object even where nothing was filled in. */
  readonly schema = $derived.by(() => {
    const op = this.op();
    return !!op && field(op, 'response_schema') !== undefined;
  });

  /** In the order of the form; null where this console does not know a part of the schema, and the answer is written as JSON. */
  readonly questions = $derived.by<Question[] | null>(() => {
    const op = this.op();
    return op?.details && this.#lib ? this.#lib.formQuestions(op) : [];
  });

  readonly faults = $derived.by<Fault[]>(() => (this.questions && this.#lib?.faultsOf(this.questions, this.values, this.#matches)) ?? []);
  /** Nothing can be sent as it is. */
  readonly blocks = $derived.by(() => this.faults.length > 0 || this.broken !== '' || (this.there && !this.#lib));

  get values(): Record<string, Json> {
    return this.draft.form.response ?? {};
  }

  /** Fills in what the schema has as defaults, and makes its patterns ready. */
  async begin(): Promise<void> {
    if (this.#begun || !this.there) return;
    this.#begun = true;
    const lib = await loadPart(() => import('../lib/form'));
    this.#lib = lib;
    const questions = this.questions ?? [];
    const defaults = lib.defaultsOf(questions);
    if (this.draft.form.response === null && Object.keys(defaults).length) this.draft.form.response = defaults;
    const matches = await lib.matcher(questions);
    this.#matches = matches;
  }

  /** Sets the value of a question; undefined takes it away. */
  set(name: string, value: Json | undefined): void {
    const rest = without(this.values, name);
    const next = value === undefined ? rest : { ...rest, [name]: value };
    this.draft.form.response = Object.keys(next).length ? next : null;
    this.draft.touch();
  }

  /** What is to be shown as wrong with a question. */
  shown(name: string): Fault | undefined {
    return this.left.has(name) ? this.faults.find((fault) => fault.name === name) : undefined;
  }

  place(name: string): (element: HTMLElement) => () => void {
    return (element) => {
      this.#places.set(name, element);
      return () => {
        if (this.#places.get(name) === element) this.#places.delete(name);
      };
    };
  }

  /** Goes to the next question with a fault, after the one that has the keyboard. */
  async next(): Promise<void> {
    const names = this.faults.map((fault) => fault.name);
    const order = (this.questions ?? []).map((q) => q.name);
    const at = order.findIndex((name) => this.#places.get(name)?.contains(document.activeElement) ?? false);
    const name = names.find((one) => order.indexOf(one) > at) ?? names[0];
    if (name === undefined) return;
    for (const one of names) this.left.add(one);
    await tick();
    const place = this.#places.get(name);
    place?.scrollIntoView({ block: 'nearest' });
    (place?.querySelector<HTMLElement>('input:checked') ?? place?.querySelector<HTMLElement>('input, textarea, select, button'))?.focus();
  }
}
