import { tick } from 'svelte';
import { isObject, without } from '../../lib/details';
import { dangerous } from '../../lib/life';
import type { EditedView, Json } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { errorText } from '../../state/sentences.svelte';
import type { Controller } from '../kind';

/** Yes or no to an action. */
export class Deciding implements Controller {
  /** The call as it is edited, as the server has it; what is not, for the edits as they are, cannot be approved. */
  view = $state.raw<EditedView>();
  /** Why it could not be had. */
  trouble = $state('');
  /** The argument that is being edited, and what is typed for it. */
  open = $state<{ name: string; text: string } | undefined>();
  /** What somebody tried while what is typed does not count. */
  tried = $state<'' | 'keep' | 'approve'>('');
  #asked = 0;

  constructor(private readonly opened: OpenOperation) {}

  /** The arguments of the call as they were sent; undefined where none can be edited. */
  readonly arguments = $derived.by<Record<string, Json> | undefined>(() => {
    const details = this.opened.op?.details;
    return typeof details?.action === 'string' && details.action && isObject(details.arguments) ? details.arguments : undefined;
  });
  readonly fixed = $derived.by<readonly Json[]>(() => (Array.isArray(this.opened.op?.details?.fixed) ? this.opened.op.details.fixed : []));
  readonly edits = $derived.by(() => Object.keys(this.opened.draft.form.args).length);
  /** The risk is that of the call as it is edited. */
  readonly risky = $derived.by(() => !!this.opened.op && (dangerous(this.opened.op) || (this.edits > 0 && (this.view?.risk === 'high' || this.view?.risk === 'critical'))));
  /** Nothing is approved that the server has not shown the digest of. */
  readonly settled = $derived.by(() => this.edits === 0 || (!!this.view && !this.trouble));

  /** The field of the argument that is being edited. */
  field: HTMLElement | undefined;

  /** Sets one argument, or with undefined puts back what was sent. */
  edit(name: string, value: Json | undefined): void {
    const { form } = this.opened.draft;
    const rest = without(form.args, name);
    form.args = value === undefined || JSON.stringify(value) === JSON.stringify(this.arguments?.[name]) ? rest : { ...rest, [name]: value };
    this.opened.draft.touch();
    void this.look();
  }

  /** Asks what the call is bound to now, and how dangerous it is. */
  async look(): Promise<void> {
    const asked = ++this.#asked;
    this.view = undefined;
    this.trouble = '';
    if (this.edits === 0) return;
    try {
      const view = await this.opened.app.api.editCall(this.opened.id, $state.snapshot(this.opened.draft.form.args as unknown) as Record<string, Json>);
      if (asked === this.#asked) this.view = view;
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error, 'beside');
    }
  }

  /** What stands for an argument now. */
  now(name: string): Json {
    const { args } = this.opened.draft.form;
    return (Object.hasOwn(args, name) ? args[name] : this.arguments?.[name]) as Json;
  }

  /** What is typed; undefined while it is no JSON. */
  get typed(): Json | undefined {
    try {
      return JSON.parse(this.open?.text ?? '') as Json;
    } catch {
      return undefined;
    }
  }

  /** Whether nothing is typed that would be lost: only what was kept is approved. */
  readonly whole = $derived.by<boolean>(() => !this.open || this.open.text === JSON.stringify(this.now(this.open.name)));
  readonly bad = $derived.by<boolean>(() => !!this.tried && !!this.open && this.typed === undefined);

  async approve(): Promise<boolean> {
    this.tried = this.whole ? '' : 'approve';
    if (this.tried) {
      await tick();
      this.field?.focus();
      return false;
    }
    const { args, ...written } = this.opened.written;
    return this.opened.complete({ ...written, ...(this.edits > 0 && { args }), decision: 'approve' }, this.edits > 0 ? this.view?.digest : undefined);
  }

  /** Denies, once there is a reason; without one it asks for it. */
  deny(): Promise<boolean> {
    const { opened } = this;
    // Whoever says no has edited nothing, and filled in nothing.
    if (opened.draft.form.human_input.trim()) return opened.complete({ ...without(opened.written, 'args', 'response'), decision: 'deny' });
    opened.missing = 'reason';
    // A card shows the field only now.
    void tick().then(() => opened.focus('answer'));
    return Promise.resolve(false);
  }

  /** A risky answer has a chord and no single key. */
  commands(): Command[] {
    const { opened } = this;
    const when = (): boolean => opened.ready;
    const label = (): string => (this.edits === 0 ? m.approve() : this.edits === 1 ? m.edit_approve_one() : m.edit_approve_n({ n: this.edits }));
    const approve = { label, group: 'answer' as const, run: () => void this.approve() };
    const may = (): boolean => when() && !opened.barred && !opened.asked.blocks && this.settled;
    const risky: Command = { ...approve, id: 'approve-risky', keys: ['Mod+Shift+a'], risky: () => true, when: () => may() && this.risky };
    // An edit can make a call risky that was not.
    const mild: Command[] = opened.op && dangerous(opened.op) ? [] : [{ ...approve, id: 'approve', keys: ['a'], when: () => may() && !this.risky }];
    return [
      ...mild, ...(mild.length && !this.arguments ? [] : [risky]),
      { id: 'deny', label: m.deny_with_reason, keys: ['d'], group: 'answer', when, run: () => void this.deny() },
    ];
  }
}
