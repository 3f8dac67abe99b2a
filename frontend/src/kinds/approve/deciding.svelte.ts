import { tick } from 'svelte';
import { dangerous } from '../../lib/life';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import type { Controller } from '../kind';

/** Yes or no to an action. */
export class Deciding implements Controller {
  constructor(private readonly opened: OpenOperation) {}

  approve(): Promise<boolean> {
    return this.opened.complete({ ...this.opened.written, decision: 'approve' });
  }

  /** Denies, once there is a reason; without one it asks for it. */
  deny(): Promise<boolean> {
    const { opened } = this;
    if (opened.draft.form.human_input.trim()) return opened.complete({ ...opened.written, decision: 'deny' });
    opened.missing = 'reason';
    // A card shows the field only now.
    void tick().then(() => opened.focus('answer'));
    return Promise.resolve(false);
  }

  /** A risky answer has a chord and no single key. */
  commands(): Command[] {
    const { opened } = this;
    const when = (): boolean => opened.ready;
    const approve = { label: m.approve, group: 'answer' as const, when: () => when() && !opened.unproven, run: () => void this.approve() };
    return [
      opened.op && dangerous(opened.op) ? { ...approve, id: 'approve-risky', keys: ['Mod+Shift+a'], risky: () => true } : { ...approve, id: 'approve', keys: ['a'] },
      { id: 'deny', label: m.deny_with_reason, keys: ['d'], group: 'answer', when, run: () => void this.deny() },
    ];
  }
}
