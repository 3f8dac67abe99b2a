import { untrack } from 'svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import { kindNames, kindOf } from '../kinds';
import { snoozed } from '../lib/life';
import type { Live, Operation, Presence } from '../lib/wire';
import { errorText } from './sentences.svelte';
import { ticker } from './ticker.svelte';

/**
 * What the page knows of operations. It folds the live channel by asking for each operation an event names, many
 * events of one operation in one call, and never goes back to an older version.
 */
export class Operations {
  readonly all = new SvelteMap<string, Operation>();
  readonly presence = new SvelteMap<string, Presence>();
  /** Operations known with their details; the others came from a list. */
  readonly whole = new SvelteSet<string>();
  /** Why the server does not have an operation that was asked for. */
  readonly missing = new SvelteMap<string, string>();
  loaded = $state(false);
  /**
   * The time by which operations are grouped. It moves only when one wakes or falls asleep, or a day begins: thousands
   * of them need not be sorted anew every second.
   */
  readonly moment = $derived.by<number>(() => {
    void this.#turn;
    return untrack(() => ticker.now);
  });
  readonly #turn = $derived.by<string>(() => {
    let asleep = 0;
    for (const op of this.all.values()) if (snoozed(op, ticker.now)) asleep += 1;
    return `${asleep} ${new Date(ticker.now).toDateString()}`;
  });
  #wanted = new Set<string>();
  #running = new Set<string>();
  #listeners = new Set<(id: string, type: string) => void>();

  constructor(private readonly api: Api) {}

  /** Reads all open operations, and the latest that ended, from the start. */
  async load(): Promise<void> {
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await this.api.operations({ state: 'open', order: 'urgent', limit: 100, cursor });
      for (const op of page.operations) {
        seen.add(op.operation_id);
        this.#keep(op);
      }
      cursor = page.next;
    } while (cursor);
    // What goes on after its end may have been answered long before what ended last.
    const goOn = kindNames.filter((name) => kindOf({ action_type: name }).goesOn);
    for (const query of [{}, ...goOn.map((action_type) => ({ action_type }))]) {
      const recent = await this.api.operations({ order: 'recent', limit: 50, ...query });
      for (const op of recent.operations) {
        seen.add(op.operation_id);
        this.#keep(op);
      }
    }
    for (const id of [...this.all.keys()]) {
      if (!seen.has(id)) this.refresh(id);
    }
    this.loaded = true;
  }

  /** Hears what the live channel says. */
  hear(message: Live): void {
    if (message.type === 'presence') {
      this.presence.set(message.operation_id, { waiting: message.waiting, last_contact: message.last_contact });
      return;
    }
    if (!('version' in message)) return;
    if (message.type === 'removed') this.#drop(message.operation_id);
    else if ((this.all.get(message.operation_id)?.version ?? 0) < message.version) this.refresh(message.operation_id);
    for (const listener of this.#listeners) listener(message.operation_id, message.type);
  }

  /** Calls back with the operation and type of every event. Returns the undo. */
  onEvent(then: (id: string, type: string) => void): () => void {
    this.#listeners.add(then);
    return () => this.#listeners.delete(then);
  }

  /** Takes an operation as a call answered it. */
  take(op: Operation | undefined): void {
    if (!op?.operation_id) return;
    this.#keep(op);
    if (op.details !== undefined) this.whole.add(op.operation_id);
  }

  /** Asks for an operation with its details, once, unless they are known. */
  need(id: string): void {
    if (!this.whole.has(id)) this.refresh(id);
  }

  /** Asks for an operation again. Calls that come while one is under way become one more. */
  refresh(id: string): void {
    this.#wanted.add(id);
    if (!this.#running.has(id)) void this.#fetch(id);
  }

  async #fetch(id: string): Promise<void> {
    this.#running.add(id);
    try {
      while (this.#wanted.delete(id)) {
        const op = await this.api.operation(id);
        this.#keep(op);
        this.whole.add(id);
      }
    } catch (error) {
      // The live channel comes back with what was missed, and load() reads the rest again.
      this.#wanted.delete(id);
      if (error instanceof Problem && error.status === 404) {
        this.#drop(id);
        this.missing.set(id, errorText(error));
      }
    } finally {
      this.#running.delete(id);
    }
  }

  #drop(id: string): void {
    this.all.delete(id);
    this.whole.delete(id);
  }

  #keep(op: Operation): void {
    const known = this.all.get(op.operation_id);
    if (known && known.version > op.version) return;
    const keepsDetails = known && op.details === undefined && this.whole.has(op.operation_id);
    const { details, context, asking, later, away } = known ?? {};
    // Lists leave these out.
    this.all.set(op.operation_id, keepsDetails ? { ...(op.version === known.version && { asking, later, away }), ...op, details, context } : op);
    if (op.presence) this.presence.set(op.operation_id, op.presence);
  }
}
