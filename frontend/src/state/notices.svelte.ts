import { shell } from '../backend/shell';
import { rings } from '../lib/life';
import type { Operation } from '../lib/wire';
import { m } from '../paraglide/messages';
import type { Desk } from './desk.svelte';
import { ticker } from './ticker.svelte';
import { nameOf } from './permwording';
import { kindWord, riskSentence } from './wording';

/** The system's own notifications: one for each ring, taken away when it rings no more. Nothing in a browser. */
export class Notices {
  readonly #up = new Set<string>();
  readonly #wanted = shell.session().then((session) => session?.notifications ?? false);

  constructor(private readonly desk: Desk) {}

  /** To be called whenever operations change. */
  follow(): void {
    if (!shell.desktop) return;
    for (const op of this.desk.ringing) {
      if (!this.#up.has(op.operation_id) && !this.#noticed(op)) void this.#notify(op);
    }
    for (const id of [...this.#up]) {
      const op = this.desk.operations.all.get(id);
      if (op && rings(op, ticker.now)) continue;
      this.#up.delete(id);
      void shell.dismiss(id);
    }
  }

  /** A restart of the app does not notify twice. */
  #noticed(op: Operation): boolean {
    return op.deliveries?.some((d) => d.channel === 'notification' && !!d.shown) ?? false;
  }

  async #notify(op: Operation): Promise<void> {
    this.#up.add(op.operation_id);
    if (!(await this.#wanted)) return;
    const line = [kindWord(op.action_type), op.risk ? riskSentence(op.risk) : ''].filter(Boolean).join(' · ');
    const shown = await shell.notify({
      id: op.operation_id,
      kind: op.action_type,
      risk: op.risk ?? '',
      title: m.notice_title({ agent: op.agent_id, what: nameOf(op, 80) }),
      body: line,
    });
    this.desk.ledger.shown(op.operation_id, 'notification', shown ? '' : m.notice_none());
  }
}
