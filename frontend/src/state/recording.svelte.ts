import { Problem } from '../backend/http';
import { actionAt, joined, noEdits, running, settledUntil, share, toggled, type Share } from '../lib/recording';
import type { Action, Edits, Mask, Recording, Suggestion } from '../lib/wire';
import { m } from '../paraglide/messages';
import type { AppState } from './app.svelte';
import { errorText } from './sentences.svelte';

/** How often actions are read while a recording runs, in milliseconds. */
const pace = 1000;

/** One recording on the table: what was done in it, and what of it may leave. */
export class OpenRecording {
  actions = $state.raw<Action[]>([]);
  suggestions = $state.raw<Suggestion[]>([]);
  edits = $state.raw<Edits>(noEdits());
  loaded = $state(false);
  trouble = $state('');
  /** The last change of the edits is not on the server yet. */
  saving = $state(false);
  /** The action that is looked at, by its id. */
  selected = $state('');
  #undo = $state.raw<Edits[]>([]);
  #language = '';
  #stamp = '';
  #reading: Promise<void> | undefined;
  #again: ReturnType<typeof setTimeout> | undefined;
  #last: ReturnType<typeof setTimeout> | undefined;
  #saver: Promise<void> | undefined;
  #dirty = false;

  readonly recording = $derived.by<Recording | undefined>(() => this.app.recorder.known.get(this.id));
  readonly at = $derived.by<number>(() => this.actions.findIndex((action) => action.action_id === this.selected));
  readonly action = $derived<Action | undefined>(this.actions[this.at]);
  readonly share = $derived<Share>(share(this.actions, this.edits));
  readonly canUndo = $derived(this.#undo.length > 0);

  constructor(
    readonly app: AppState,
    readonly id: string,
  ) {}

  /** What a terminal printed, as an asciicast. */
  async cast(): Promise<string> {
    const { TerminalApi } = await import('../backend/terminal');
    return new TerminalApi(this.app.api.to).cast(this.id);
  }

  /** Reads edits and the recording itself, once. */
  async open(): Promise<void> {
    this.trouble = await this.app.recorder.need(this.id);
    if (this.recording?.holder) {
      // It came as it leaves the desk that has it.
      this.edits = { ...noEdits(), share_text: true, share_pictures: true };
      return;
    }
    try {
      const edits = await this.app.api.edits(this.id);
      // What was changed or saved meanwhile stays; if it was not the first change, the server refuses to save it and says why.
      if (!this.#dirty && edits.version >= this.edits.version) this.edits = edits;
    } catch (error) {
      if (!(error instanceof Problem && error.status === 404)) this.trouble = errorText(error);
    }
  }

  /** To be called whenever the language or the recording changes: reads what is new, at most once a second. */
  follow(language: string): void {
    const r = this.recording;
    if (!r) return;
    const stamp = `${r.state} ${r.counts.events} ${language}`;
    if (stamp === this.#stamp) return;
    this.#stamp = stamp;
    const fresh = language !== this.#language;
    this.#language = language;
    clearTimeout(this.#last);
    if (fresh || !running(r)) void this.#read(true);
    if (!running(r)) return;
    this.#again ??= setTimeout(() => {
      this.#again = undefined;
      void this.#read(false);
    }, pace);
    // What is counted is stored a moment later: the last of it is read once nothing more comes.
    this.#last = setTimeout(() => void this.#read(false), 2 * pace);
  }

  close(): void {
    clearTimeout(this.#again);
    clearTimeout(this.#last);
    this.#again = undefined;
    this.#stamp = '';
  }

  /** Reads all actions anew. */
  reload(): Promise<void> {
    return this.#read(true);
  }

  async #read(all: boolean): Promise<void> {
    await this.#reading;
    this.#reading = this.#fetch(all);
    await this.#reading;
  }

  async #fetch(all: boolean): Promise<void> {
    if (this.app.recorder.leaving(this.id)) return;
    const after = all ? '' : settledUntil(this.actions);
    const language = this.#language;
    try {
      const answer = await this.app.api.actions(this.id, language, after);
      if (language !== this.#language) return;
      this.actions = joined(this.actions, after, answer.actions);
      this.suggestions = answer.suggestions;
      this.loaded = true;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  /** The suggestion for a step of the checklist, with its action. */
  suggested(step: number): { at: number; action: Action | undefined } | undefined {
    const found = this.suggestions.find((s) => s.step === step);
    return found && { at: found.at_ns, action: this.actions.find((a) => a.action_id === found.action_id) };
  }

  /** When a step of the checklist was done: as ticked here, or else as its last action says. */
  stepTime(step: number): number | undefined {
    return this.app.recorder.ticks.get(`${this.id} ${step}`) ?? this.actions.findLast((action) => action.step === step)?.end_ns;
  }

  select(id: string): void {
    this.selected = id;
  }

  /** Selects the action `step` further on, or the first. */
  move(step: number): Action | undefined {
    const action = this.actions[this.at < 0 ? 0 : Math.min(this.actions.length - 1, Math.max(0, this.at + step))];
    if (action) this.selected = action.action_id;
    return action;
  }

  selectAt(time: number): void {
    const action = this.actions[actionAt(this.actions, time)];
    if (action) this.selected = action.action_id;
  }

  isCut(id: string): boolean {
    return this.edits.cuts.includes(id);
  }

  isMasked(id: string): boolean {
    return this.edits.masked_texts.includes(id);
  }

  words(action: Action): string {
    return this.edits.words?.[action.action_id] || action.words;
  }

  cut(id: string): void {
    this.change((edits) => ({ ...edits, cuts: toggled(edits.cuts, id) }));
  }

  maskText(id: string): void {
    this.change((edits) => ({ ...edits, masked_texts: toggled(edits.masked_texts, id) }));
  }

  /** The operator's own words for an action; those of the recording again where they are empty or the same. */
  reword(action: Action, words: string): void {
    const id = action.action_id;
    const text = words.trim() === action.words ? '' : words.trim();
    if (text === (this.edits.words?.[id] ?? '')) return;
    const others = Object.entries(this.edits.words ?? {}).filter(([other]) => other !== id);
    this.change((edits) => ({ ...edits, words: Object.fromEntries(text ? [...others, [id, text]] : others) }));
  }

  mask(mask: Mask): void {
    this.change((edits) => ({ ...edits, masks: [...edits.masks, mask] }));
  }

  unmask(mask: Mask): void {
    this.change((edits) => ({ ...edits, masks: edits.masks.filter((one) => one !== mask) }));
  }

  shareText(on: boolean): void {
    this.change((edits) => ({ ...edits, share_text: on }));
  }

  sharePictures(on: boolean): void {
    this.change((edits) => ({ ...edits, share_pictures: on }));
  }

  /** The actions whose pictures the agent gets, where it does not get all. */
  sharePicturesOf(actions: string[]): void {
    this.change((edits) => ({ ...edits, pictures_of: actions }));
  }

  /** Takes the last change back, in this page and on the server. */
  undo(): void {
    const before = this.#undo.at(-1);
    if (!before) return;
    this.#undo = this.#undo.slice(0, -1);
    this.#put({ ...before, version: this.edits.version });
  }

  change(how: (edits: Edits) => Edits): void {
    this.#undo = [...this.#undo, this.edits];
    this.#put(how(this.edits));
  }

  /** Tries again to save what is not saved. Resolves when nothing is left to save, or it failed and `trouble` says so. */
  async save(): Promise<boolean> {
    this.#saver ??= this.#saveAll().finally(() => (this.#saver = undefined));
    await this.#saver;
    return !this.#dirty;
  }

  #put(edits: Edits): void {
    this.edits = edits;
    this.#dirty = true;
    void this.save();
  }

  async #saveAll(): Promise<void> {
    this.saving = true;
    try {
      while (this.#dirty) {
        const sent = this.edits;
        const saved = await this.app.api.saveEdits(this.id, sent);
        this.#dirty = this.edits !== sent;
        // Something may have been changed meanwhile: it goes out next, on top of what was saved.
        this.edits = this.#dirty ? { ...this.edits, version: saved.version } : saved;
      }
      this.trouble = '';
    } catch (error) {
      if (error instanceof Problem && error.conflict) {
        this.#dirty = false;
        this.#undo = [];
        await this.open();
        this.trouble = m.rec_edits_overtaken();
      } else this.trouble = m.rec_edits_failed({ why: errorText(error) });
    } finally {
      this.saving = false;
    }
  }
}
