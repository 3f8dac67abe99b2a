import type { FormFinding } from '../lib/answer';
import { adopt, best, changed, changes, drafted, has, latest, moved, ownFinding, put, reworded, summaryText, takenOver, type Changes, type ListName } from '../lib/findings';
import type { DraftRequest, Finding, Showing, Summary, ReportLanguage } from '../lib/wire';
import type { AppState } from './app.svelte';
import type { Draft } from './draft.svelte';
import { errorText } from './sentences.svelte';

/** A finding whose words are being changed. */
export interface Editing {
  list: ListName;
  /** Its number in the list. */
  at: number;
  text: string;
  /** It is new: given up, it goes. */
  fresh?: boolean;
}

/**
 * The findings of one operation: the drafts that summarizers made, and what the operator makes of them. What they
 * change is their draft answer, which is kept as every other.
 */
export class Findings {
  summaries = $state.raw<Summary[]>([]);
  chosen = $state.raw<string[]>([]);
  fitting = $state.raw<string[]>([]);
  /** Drafts from before something was cut, masked or shared in the recordings. */
  stale = $state.raw<string[]>([]);
  language = $state<ReportLanguage>('en');
  loaded = $state(false);
  trouble = $state('');
  /** A draft is being asked for. */
  asking = $state(false);
  /** The summarizer whose draft stands beside the operator's own list; '' for none. */
  beside = $state('');
  /** What would be sent away, while the operator looks at it. */
  showing = $state.raw<{ summarizer: string; what: Showing } | null>(null);
  /** The row the keyboard is at. */
  at = $state<{ list: ListName; at: number }>({ list: 'findings', at: 0 });
  /** Said to who cannot see it. */
  said = $state('');
  #editing = $state<Editing | null>(null);
  #opened = false;
  /** The draft that takes the place of the one the list was made from, as nothing of that was changed. */
  #instead = '';
  #reading: Promise<void> | undefined;

  constructor(
    readonly app: AppState,
    readonly id: string,
    readonly draft: Draft,
  ) {
    // What was being written when the page went away is written on.
    const kept = app.unsent.get(this.#key);
    if (kept) this.#editing = parsed(kept);
  }

  get #key(): string {
    return `finding ${this.id}`;
  }

  /** The draft the operator's list was made from. */
  get base(): Summary | undefined {
    return this.summaries.find((one) => one.summary_id === this.draft.form.summary_id);
  }

  get running(): Summary | undefined {
    return this.summaries.findLast((one) => one.state === 'running');
  }

  /** The latest of each summarizer. */
  get latest(): Summary[] {
    return latest(this.summaries, this.chosen);
  }

  /** The draft that stands beside. */
  get other(): Summary | undefined {
    return this.summaries.findLast((one) => one.summarizer === this.beside);
  }

  /** Whether the operator changed anything of what was drafted; without a draft, whether they wrote anything. */
  get touched(): boolean {
    const { form } = this.draft;
    const base = this.base;
    return base ? changed(form, base.report) : !!(form.summary.trim() || form.findings.length + form.suggestions.length);
  }

  get changes(): Changes | undefined {
    const base = this.base;
    return base && changes(this.draft.form, base.report);
  }

  /** The latest of the chosen ones that went wrong, unless another of the same kind is done or under way since. */
  get failed(): Summary | undefined {
    return this.latest.find((one) => one.state === 'failed' && (this.chosen.includes(one.summarizer) || one.summarizer === this.beside));
  }

  /** Those that ask before anything is sent. */
  get asks(): Summary[] {
    return this.latest.filter((one) => one.state === 'needs_consent');
  }

  /** A done draft newer than the one the list was made from, of the same summarizer. */
  get newer(): Summary | undefined {
    const base = this.base;
    return base && this.summaries.findLast((one) => one.state === 'done' && one.summarizer === base.summarizer && one.summary_id > base.summary_id);
  }

  /** Reads the drafts; those that are due are begun. */
  async load(): Promise<void> {
    this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
    await this.#reading;
  }

  async #read(): Promise<void> {
    try {
      const all = await this.app.api.drafts(this.id);
      Object.assign(this, { summaries: all.summaries, chosen: all.chosen, fitting: all.fitting, stale: all.stale, language: all.language, loaded: true, trouble: '' });
      // Several that were chosen stand side by side from the first.
      if (!this.#opened && !this.beside) this.beside = all.chosen[1] ?? '';
      this.#opened = true;
      this.#adopt();
      const editing = this.#editing;
      if (editing && !this.draft.form[editing.list][editing.at]) this.#write(null);
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  /** Hears how a draft stands. */
  hear(summary: Summary): void {
    const known = this.summaries.findIndex((one) => one.summary_id === summary.summary_id);
    if (known >= 0) {
      const before = this.summaries[known];
      // What is said of a draft that is done may be late.
      if (before?.state === 'done' || (before?.state !== 'running' && summary.state === 'running')) return;
      this.summaries = this.summaries.with(known, summary);
    } else this.summaries = [...this.summaries, summary];
    if (summary.state === 'done') {
      if (this.#instead === summary.summary_id && !this.touched) this.#begin(summary);
      else this.#adopt();
    }
    // A draft that failed may have another in its place.
    if (summary.state === 'failed') void this.load();
  }

  /** The first draft that is done is what the operator begins with; no later one takes its place by itself. */
  #adopt(): void {
    if (this.draft.form.summary_id) return;
    const first = best(this.summaries, this.chosen);
    // A better one that is still being made is waited for.
    const awaited = this.summaries.some((one) => one.state === 'running' && one.summarizer === this.chosen[0]);
    if (first && !(awaited && first.summarizer !== this.chosen[0])) adopt(this.draft.form, first);
  }

  /** To be called when the draft was read anew: a form that has no findings yet takes the first draft again. */
  follow(): void {
    if (this.loaded) this.#adopt();
  }

  /** Has a draft made. One that would send anything away asks first. */
  async start(request: DraftRequest = {}): Promise<void> {
    this.asking = true;
    this.trouble = '';
    try {
      const summary = await this.app.api.startDraft(this.id, request);
      this.showing = null;
      if (summary.summarizer !== this.base?.summarizer) this.beside = this.base ? summary.summarizer : '';
      else if (this.touched) this.beside = summary.summarizer;
      else this.#instead = summary.summary_id;
      this.hear(summary);
    } catch (error) {
      this.trouble = errorText(error);
    } finally {
      this.asking = false;
    }
  }

  async stop(summary: Summary): Promise<void> {
    try {
      this.hear(await this.app.api.stopDraft(this.id, summary.summary_id));
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  /** Shows what would be sent, to the letter. */
  async show(summarizer: string): Promise<void> {
    this.asking = true;
    try {
      this.showing = { summarizer, what: await this.app.api.previewDraft(this.id, summarizer) };
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    } finally {
      this.asking = false;
    }
  }

  /** Looks at the draft of a summarizer beside one's own; one that there is not yet is made. */
  async look(summarizer: string): Promise<void> {
    this.beside = summarizer === this.base?.summarizer && !this.newer ? '' : summarizer;
    if (!this.summaries.some((one) => one.summarizer === summarizer && one.state !== 'failed' && one.state !== 'stopped')) await this.start({ with: summarizer });
  }

  /** Begins anew with a draft: what the operator added stays, what they changed of the former one goes. */
  startOver(summary: Summary): void {
    this.#begin(summary);
    this.draft.touch();
  }

  #begin(summary: Summary): void {
    const { form } = this.draft;
    const before = this.base;
    // The summary is the draft's as long as nobody changed it.
    if (before && form.summary === summaryText(before.report)) form.summary = '';
    adopt(form, summary);
    this.beside = '';
    this.#write(null);
  }

  has(list: ListName, finding: Finding): boolean {
    return has(this.draft.form[list], finding);
  }

  /** Takes a finding of another draft into one's own list. */
  take(list: ListName, finding: Finding): void {
    if (this.has(list, finding)) return;
    this.draft.form[list].push(takenOver(finding));
    this.draft.touch();
  }

  takeSummary(summary: Summary): void {
    this.draft.form.summary = summaryText(summary.report);
    this.draft.touch();
  }

  /** What a finding was when it was drafted. */
  drafted(finding: Finding): Finding | undefined {
    return drafted(this.base?.report, finding);
  }

  get editing(): Editing | null {
    return this.#editing;
  }

  isEditing(list: ListName, at: number): boolean {
    return this.#editing?.list === list && this.#editing.at === at;
  }

  edit(list: ListName, at: number): void {
    const finding = this.draft.form[list][at];
    if (!finding || finding.cut) return;
    if (this.#editing) this.keep();
    this.at = { list, at };
    this.#write({ list, at, text: finding.text });
  }

  /** Changes what is being written. It outlives a reload: one that is new is in the draft already. */
  write(text: string): void {
    const now = this.#editing;
    if (!now) return;
    this.#write({ ...now, text });
    const finding = this.draft.form[now.list][now.at];
    if (!now.fresh || !finding) return;
    finding.text = text;
    this.draft.touch();
  }

  /** Keeps what was written. A finding left without words is none. */
  keep(): void {
    const now = this.#editing;
    if (!now) return;
    this.#write(null);
    const finding = this.draft.form[now.list][now.at];
    if (!finding) return;
    if (!now.text.trim()) {
      if (now.fresh) this.#remove(now.list, now.at);
      return;
    }
    if (now.text.trim() === finding.text) return;
    this.#put(now.list, now.at, reworded(finding, now.text, this.drafted(finding)));
  }

  /** Gives up what was written. */
  giveUp(): void {
    const now = this.#editing;
    this.#write(null);
    if (now?.fresh) this.#remove(now.list, now.at);
  }

  /** Adds a finding of the operator's own, and begins to write it. */
  add(list: ListName): void {
    if (this.#editing) this.keep();
    const all = this.draft.form[list];
    // What was cut stays at the end.
    const at = all.filter((one) => !one.cut).length;
    all.splice(at, 0, ownFinding());
    this.at = { list, at };
    this.#write({ list, at, text: '', fresh: true });
  }

  /** Leaves a finding out: it stays on this machine, at the end of the list. */
  cut(list: ListName, at: number): void {
    if (this.isEditing(list, at)) this.giveUp();
    else if (this.#editing) this.keep();
    const finding = this.draft.form[list][at];
    if (!finding || finding.cut) return;
    // Nothing is left of what nobody drafted and nobody wrote.
    if (!finding.text.trim()) return this.#remove(list, at);
    const rest = this.draft.form[list].filter((_, i) => i !== at);
    this.draft.form[list] = [...rest, { ...finding, cut: true }];
    this.at = { list, at: Math.max(0, Math.min(at, rest.filter((one) => !one.cut).length - 1)) };
    this.draft.touch();
  }

  /** Puts a finding that was cut back, as the last of those that are sent. */
  putBack(list: ListName, at: number): void {
    const finding = this.draft.form[list][at];
    if (!finding?.cut) return;
    const rest = this.draft.form[list].filter((_, i) => i !== at);
    const end = rest.filter((one) => !one.cut).length;
    this.draft.form[list] = rest.toSpliced(end, 0, put(finding));
    this.at = { list, at: end };
    this.draft.touch();
  }

  /** Moves a finding. Returns whether it moved: what was cut stays at the end. */
  move(list: ListName, from: number, to: number): boolean {
    if (this.#editing) this.keep();
    const all = this.draft.form[list];
    const sent = all.filter((one) => !one.cut).length;
    if (from >= sent || to < 0 || to >= sent || from === to) return false;
    this.draft.form[list] = moved(all, from, to);
    this.at = { list, at: to };
    this.draft.touch();
    return true;
  }

  /** How many go out of a list, and how many were cut. */
  count(list: ListName): { sent: number; cut: number } {
    const all = this.draft.form[list].filter((one) => one.text.trim());
    const cut = all.filter((one) => one.cut).length;
    return { sent: all.length - cut, cut };
  }

  /** To be called once the answer has been sent. */
  sent(): void {
    this.#write(null);
  }

  #put(list: ListName, at: number, finding: FormFinding): void {
    this.draft.form[list] = this.draft.form[list].with(at, finding);
    this.draft.touch();
  }

  #remove(list: ListName, at: number): void {
    this.draft.form[list] = this.draft.form[list].filter((_, i) => i !== at);
    this.at = { list, at: Math.max(0, at - 1) };
    this.draft.touch();
  }

  #write(editing: Editing | null): void {
    this.#editing = editing;
    this.app.unsent.set(this.#key, editing ? JSON.stringify(editing) : '');
  }
}

function parsed(text: string): Editing | null {
  try {
    return JSON.parse(text) as Editing;
  } catch {
    return null;
  }
}
