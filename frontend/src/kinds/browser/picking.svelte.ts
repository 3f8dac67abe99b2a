import { SvelteMap } from 'svelte/reactivity';
import { corrected, fill, picks, wallTime } from '../../lib/browsing';
import { wanted, type Wanted } from '../../lib/details';
import { ended } from '../../lib/life';
import { stepsField } from '../../lib/steps';
import type { Take } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { Controller } from '../kind';
import type { OpenOperation } from '../../state/openoperation.svelte';
import type { OpenRecording } from '../../state/recording.svelte';
import { errorText } from '../../state/sentences.svelte';

/** Fields of other views, which are not picked from a page. */
const taken: readonly string[] = [stepsField, 'choice'];

/** The fields of an operation in a browser: picked from its pages, or typed. */
export class Picking implements Controller {
  /** What the page waits for the operator to point at. */
  waiting = $state.raw<{ field: string; take: Take; since: number } | null>(null);
  /** The page has said that it waits: only now a click on it is a pick. */
  ready = $state(false);
  trouble = $state('');
  /** The field that was last gone to. */
  at = $state('');
  /** Said to who cannot see it: which field was filled. */
  said = $state('');
  /** How each field is picked, where not as an element. */
  readonly takes = new SvelteMap<string, Take>();
  /** Names the operator added. */
  #own = $state<string[]>([]);
  readonly #typed = new Map<string, number>();
  #sent: Promise<unknown> = Promise.resolve();

  /** What the agent asked for, then what the operator added. */
  readonly fields = $derived.by<Wanted[]>(() => {
    const asked = this.opened.op ? wanted(this.opened.op) : [];
    const known = new Set(asked.map((field) => field.name));
    const form = this.opened.draft.form;
    const own = [...new Set([...this.#own, ...Object.keys(form.fields), ...Object.keys(form.field_sources)])].filter((name) => !known.has(name) && !taken.includes(name));
    return [...asked, ...own.map((name) => ({ name, hint: '' }))];
  });
  readonly filled = $derived.by<number>(() => this.fields.filter(({ name }) => this.opened.draft.form.fields[name]?.trim()).length);
  /** Where the next pick goes: the field that was gone to, or the first empty one. */
  readonly next = $derived.by<string>(() => this.fields.find(({ name }) => name === this.at)?.name ?? this.fields.find(({ name }) => !this.opened.draft.form.fields[name]?.trim())?.name ?? '');
  readonly live = $derived.by<boolean>(() => {
    const op = this.opened.op;
    return !!op && !ended(op) && !!this.opened.recording?.options.browser && !this.opened.app.recorder.paused;
  });

  constructor(private readonly opened: OpenOperation) {}

  add(name: string): void {
    const clean = name.trim();
    if (!clean || this.fields.some((field) => field.name === clean) || taken.includes(clean)) return;
    this.#own = [...this.#own, clean];
    this.at = clean;
  }

  /** To be called when a field was changed by hand. */
  typed(field: string): void {
    this.#typed.set(field, Date.now());
    const { form } = this.opened.draft;
    const source = form.field_sources[field];
    if (source) form.field_sources[field] = corrected(source, form.fields[field] ?? '');
    this.opened.missing = '';
    this.opened.draft.touch();
  }

  /** Puts back what was picked. */
  restore(field: string): void {
    const { form } = this.opened.draft;
    const source = form.field_sources[field];
    if (!source) return;
    form.fields[field] = source.picked;
    this.typed(field);
  }

  /** The operator points at something on the page, which comes to the front; what was selected there is taken at once. */
  async pick(field = this.next): Promise<void> {
    if (!field || !this.live) return;
    const take = this.takes.get(field) ?? 'element';
    const { recorder } = this.opened.app;
    const waiting = { field, take, since: Date.now() };
    this.waiting = waiting;
    this.ready = false;
    this.trouble = '';
    try {
      await this.#send(field, take);
      if (this.waiting === waiting) this.ready = true;
      if (take !== 'selection') await recorder.showBrowser();
    } catch (error) {
      this.trouble = errorText(error);
      if (this.waiting === waiting) this.waiting = null;
    }
  }

  async cancel(): Promise<void> {
    if (!this.waiting) return;
    this.waiting = null;
    try {
      await this.#send('');
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  /** One after the other: a cancel that overtook the pick after it would end that. */
  #send(field: string, take?: Take): Promise<void> {
    const { recorder } = this.opened.app;
    const sending = this.#sent.then(() => (take ? recorder.pick(field, take) : recorder.pick(field)));
    this.#sent = sending.catch(() => undefined);
    return sending;
  }

  async show(): Promise<void> {
    try {
      await this.opened.app.recorder.showBrowser();
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  /** To be called whenever actions of a recording were read: what was picked fills its field. */
  follow(open: OpenRecording): void {
    const { recording } = open;
    const op = this.opened.op;
    if (this.waiting && !this.live) this.waiting = null;
    if (!recording || !op || ended(op)) return;
    const { draft } = this.opened;
    let changed = false;
    for (const [field, action] of picks(open.actions)) {
      // What was typed before this page was opened was typed by the time it was kept.
      const typedAt = this.#typed.get(field) ?? (Date.parse(draft.keptAt) || 0);
      if (fill(draft.form, recording, action, typedAt)) {
        changed = true;
        this.said = m.browser_filled_now({ field });
      }
      if (this.waiting?.field === field && wallTime(recording, action) >= this.waiting.since) {
        this.waiting = null;
        if (this.at === field) this.at = '';
      }
    }
    if (changed) draft.touch();
  }

  commands(): Command[] {
    return [
      ...this.opened.answers(),
      { id: 'pick', label: m.browser_pick, keys: ['p'], group: 'answer', when: () => this.live && this.next !== '', run: () => void this.pick() },
      { id: 'show-browser', label: m.browser_show, keys: ['b'], group: 'answer', when: () => this.live, run: () => void this.show() },
    ];
  }

  /** To be added while the page waits, so that it comes before what else Escape does. */
  cancelCommand(): Command {
    return { id: 'pick-cancel', label: m.browser_pick_cancel, keys: ['Escape'], group: 'answer', when: () => this.waiting !== null, run: () => void this.cancel() };
  }
}
