import { SvelteMap } from 'svelte/reactivity';
import { ended } from '../../lib/life';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import { filesWord } from '../../state/effectwording';
import type { OpenOperation } from '../../state/openoperation.svelte';
import type { Controller } from '../kind';
import { resultOf, type BoxFile, type BoxResult } from './result';

/** What a command in a box wrote, on the table: which files are selected, and which is looked at. */
export class Boxed implements Controller {
  readonly result = $derived.by<BoxResult | undefined>(() => resultOf(this.opened.op));
  /** What somebody selected or not, against what it was at first. */
  readonly #set = new SvelteMap<string, boolean>();
  #at = $state(-1);
  /** Why the last try to keep was not even sent. */
  lack = $state(false);

  readonly files = $derived.by<BoxFile[]>(() => this.result?.files ?? []);
  /** Once it has ended, what was kept. */
  readonly selected = $derived.by<BoxFile[]>(() => {
    const { op } = this.opened;
    const kept = op?.result?.keep ?? [];
    return this.files.filter((file) => (op && ended(op) ? kept.includes(file.path) : (this.#set.get(file.path) ?? !file.warning)));
  });
  /** The file whose change is shown: first one that needs a look of its own. */
  readonly at = $derived.by<number>(() => (this.#at >= 0 ? this.#at : Math.max(this.files.findIndex((file) => file.warning), 0)));
  readonly shown = $derived.by<BoxFile | undefined>(() => this.files[this.at]);
  /** Something is selected that does more than its text says: then no key that is pressed in a hurry keeps it. */
  readonly risky = $derived.by<boolean>(() => this.selected.some((file) => file.warning));

  constructor(private readonly opened: OpenOperation) {}

  get editable(): boolean {
    return !!this.opened.op && !ended(this.opened.op) && this.opened.mine;
  }

  show(at: number): void {
    if (at >= 0 && at < this.files.length) this.#at = at;
  }

  select(file: BoxFile, on: boolean): void {
    if (!this.editable) return;
    const was = this.risky;
    this.#set.set(file.path, on);
    this.lack = false;
    // The button keeps something else now: a press that was meant for what it was before must not.
    if (this.risky !== was) this.opened.arming.start();
  }

  async keep(): Promise<boolean> {
    this.lack = this.selected.length === 0;
    if (this.lack) return false;
    return this.opened.complete({ ...this.#words(), decision: 'approve', keep: this.selected.map(({ path }) => path) });
  }

  discard(): Promise<boolean> {
    return this.opened.complete({ ...this.#words(), decision: 'deny' });
  }

  #words(): { human_input?: string } {
    const words = this.opened.draft.form.human_input.trim();
    return words ? { human_input: words } : {};
  }

  commands(): Command[] {
    const when = (): boolean => this.opened.ready;
    const keeps = (): boolean => when() && !this.opened.barred;
    const label = (): string => (this.selected.length ? m.box_keep({ files: filesWord(this.selected.length) }) : m.box_keep_none());
    const several = (): boolean => this.files.length > 1;
    return [
      { id: 'box-discard', label: m.box_discard, keys: ['Mod+Enter'], group: 'answer', when, run: () => void this.discard() },
      { id: 'box-keep', label, keys: ['Mod+k'], group: 'answer', when: () => keeps() && !this.risky, run: () => void this.keep() },
      { id: 'box-keep-risky', label, keys: ['Mod+Shift+k'], group: 'answer', when: () => keeps() && this.risky, risky: () => true, run: () => void this.keep() },
      { id: 'box-next', label: m.box_next, keys: ['n'], group: 'move', when: several, run: () => this.show(this.at + 1) },
      { id: 'box-previous', label: m.box_previous, keys: ['p'], group: 'move', when: several, run: () => this.show(this.at - 1) },
      {
        id: 'box-select', label: m.box_toggle, keys: ['v'], group: 'answer', when: () => this.editable && !!this.shown,
        run: () => { if (this.shown) this.select(this.shown, !this.selected.includes(this.shown)); },
      },
    ];
  }
}
