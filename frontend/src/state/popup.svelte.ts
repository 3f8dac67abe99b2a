import { SvelteSet } from 'svelte/reactivity';
import { byUrgency } from '../lib/groups';
import { dangerous, ended, endedAt, rings, snoozed } from '../lib/life';
import { between } from '../lib/time';
import type { Operation } from '../lib/wire';
import type { AppState } from './app.svelte';
import { ticker } from './ticker.svelte';

/** How many cards are drawn whole; the rest is one line that opens the console. */
const drawn = 2;
/** How long a card says that a risky answer was sent, in milliseconds. */
const confirmation = 6000;

/** The stack of cards: what rings, most urgent on top, then what can still be undone, and what became of cards that were on screen. */
export class PopupStack {
  readonly #onScreen = new SvelteSet<string>();
  readonly #hidden = new SvelteSet<string>();

  readonly cards = $derived.by<Operation[]>(() => [...this.app.operations.all.values()].filter((op) => this.#wants(op)).sort((a, b) => Number(!!a.leaving) - Number(!!b.leaving) || Number(a.overdue) - Number(b.overdue) || byUrgency(a, b)));
  readonly front = $derived<Operation[]>(this.cards.slice(0, this.cards.length > drawn + 1 ? drawn : drawn + 1));
  readonly deck = $derived<Operation[]>(this.cards.slice(this.front.length));

  /** `shows` says whether cards of requests of this risk are wanted now. */
  constructor(
    private readonly app: AppState,
    private readonly shows: (risk: string | undefined) => boolean = () => true,
  ) {}

  /** Notes that a card is on screen: it stays until it is answered, put off or hidden. */
  show(id: string): void {
    this.#onScreen.add(id);
  }

  hide(id: string): void {
    this.#hidden.add(this.#key(id));
  }

  /** What is hidden: a run that stops again comes back. */
  #key(id: string): string {
    const stops = this.app.stopOf(id)?.stops;
    return stops ? `${id} ${stops}` : id;
  }

  #wants(op: Operation): boolean {
    const now = ticker.now;
    const id = op.operation_id;
    // Its operator is needed, though it is recorded.
    if (this.app.stopOf(id) && !this.#hidden.has(this.#key(id))) return this.shows(op.risk);
    // Who records it works on it: the recorder's own strip says so.
    if (this.app.recorder.on(id)) return false;
    if (this.#hidden.has(id) && !rings(op, now, this.app.member)) return false;
    if (op.frozen || !this.shows(op.risk)) return false;
    if (ended(op)) return this.#onScreen.has(id) && this.#lingers(op, now);
    if (snoozed(op, now)) return false;
    if (rings(op, now, this.app.member)) return true;
    if (op.overdue && op.state === 'pending' && !op.others_asked) return true;
    // A half-written answer comes back after a restart, and when the console is closed over it.
    if (op.state === 'in_progress' && op.draft?.by.name === this.app.operator) return true;
    // In a team it rings everywhere until it is noted who is asked.
    if (op.others_asked && !op.claimed_by && !this.app.hasDraft(op)) return false;
    return this.#onScreen.has(id);
  }

  /**
   * What ended by somebody else stays to say so, and so does what was being typed. What the operator answered here stays while it
   * can be undone; what they answered in a notification goes at once, and so does the rest, unless it was risky.
   */
  #lingers(op: Operation, now: number): boolean {
    const sent = this.app.answering.outcomes.get(op.operation_id)?.kind === 'sent';
    if (op.leaving) return sent;
    if (!sent || op.state === 'cancelled') {
      return op.result?.by.name !== this.app.operator || this.app.hasDraft(op);
    }
    return dangerous(op) && op.result?.decision === 'approve' && between(endedAt(op), now) < confirmation;
  }
}
