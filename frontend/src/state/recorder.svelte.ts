import { kindOf } from '../kinds';
import { SvelteMap } from 'svelte/reactivity';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import { ms, running } from '../lib/recording';
import type { BrowserOptions, Live, Operation, Recording, RecordingOptions, SourceState, Take } from '../lib/wire';
import { m } from '../paraglide/messages';
import type { Answering } from './answering.svelte';
import { errorText } from './sentences.svelte';
import { ticker } from './ticker.svelte';

/** What may be chosen before work in a browser is recorded. */
export interface BrowserChoice {
  profile: 'kept' | 'throwaway' | 'attach';
  /** Where a browser that runs already listens. */
  attach: string;
  network: boolean;
  console: boolean;
  dom: boolean;
  /** The desktop is recorded as well. */
  desktop: boolean;
}

/** The recorder of this machine: what it can record, what it records now, and the recordings the page knows. */
export class Recorder {
  /** What the sources can deliver now. */
  sources = $state.raw<SourceState[]>([]);
  /** The recording that runs or is paused. */
  current = $state.raw<Recording | null>(null);
  readonly known = new SvelteMap<string, Recording>();
  /** Ids of recordings that are no more, or that the server did not have when it was asked. */
  readonly gone = new SvelteMap<string, 'dropped' | 'absent'>();
  /** Ids of recordings whose end was asked for and is not answered yet. */
  readonly #going = new Set<string>();
  /** Notes that are under way. */
  readonly #marks = new Set<Promise<boolean>>();
  loaded = $state(false);
  /** The server has no recorder: recording is switched off. */
  off = $state(false);
  /** How many calls that change what is recorded are under way. */
  #calls = $state(0);
  readonly busy = $derived(this.#calls > 0);
  trouble = $state('');
  /** What the next recording is started with, where it is not what the settings say. */
  options = $state<{ folders: string[]; clipboard: 'off' | 'kind' | 'content'; pictures: boolean }>({ folders: [], clipboard: 'kind', pictures: true });
  browser = $state<BrowserChoice>({ profile: 'kept', attach: '', network: false, console: false, dom: false, desktop: false });
  /** What the settings say. Nothing is drawn from it: whoever asks for it must not be asked again once it came. */
  #usual: { folders: string[]; clipboard: 'off' | 'kind' | 'content' } = { folders: [], clipboard: 'kind' };
  /** The browser's options were read from the settings: from then on they are the operator's. */
  #chosen = false;
  /** When steps were ticked in this page, in nanoseconds from the start, by recording and step. */
  readonly ticks = new SvelteMap<string, number>();
  /** The time of the page's clock at which the current recording stood at what it says. */
  #heard = $state(0);

  /** The sources of the desktop that would deliver less than all that is asked for. Files are, once a folder was named. */
  readonly short = $derived.by<SourceState[]>(() =>
    this.sources.filter((s) => s.source !== 'browser' && (s.status === 'missing' || s.status === 'partial') && s.code !== 'no_folder' && !(s.source === 'screen' && !this.options.pictures) && !(s.source === 'clipboard' && this.options.clipboard === 'off')),
  );

  /** Whether a browser can be opened, and which. Absent where the server does not say. */
  readonly browserState = $derived.by<SourceState | undefined>(() => this.sources.find((s) => s.source === 'browser'));

  readonly paused = $derived(this.current?.state === 'paused');
  /** Nanoseconds recorded by now. It steps with the page's clock. */
  readonly elapsed = $derived.by<number>(() => {
    if (!this.current) return 0;
    const since = this.current.state === 'recording' ? Math.max(0, ticker.now - this.#heard) : 0;
    return this.current.elapsed_ns + since * ms;
  });

  /** Nanoseconds recorded of any by now: a terminal's is never paused. */
  elapsedOf(r: Recording): number {
    if (r.recording_id === this.current?.recording_id) return this.elapsed;
    return running(r) ? Math.max(0, ticker.now - Date.parse(r.started_at)) * ms : r.elapsed_ns;
  }

  constructor(
    private readonly api: Api,
    private readonly answering: Answering,
  ) {}

  /** Reads what can be recorded now, and what is. */
  async load(): Promise<void> {
    try {
      const state = await this.api.recorder();
      this.sources = state.sources;
      if (state.current) this.#take(state.current);
      else this.current = null;
      this.loaded = true;
      this.off = false;
    } catch (error) {
      if (!(error instanceof Problem) || error.offline || error.unauthorized) return;
      this.loaded = false;
      this.off = true;
    }
  }

  hear(message: Live): void {
    if (message.type === 'recording') this.#take(message.recording);
    else if (message.type === 'recording_gone') this.#drop(message.recording_id);
  }

  /** Asks for a recording unless it is known. Resolves with why it could not be had, where it may be there: another desk of the team may have it. */
  async need(id: string): Promise<string> {
    if (this.known.has(id) || this.gone.has(id)) return '';
    try {
      this.#take(await this.api.recording(id));
    } catch (error) {
      // It may be on its way: what is heard of it later counts.
      if (!(error instanceof Problem && error.status === 404)) return errorText(error);
      this.gone.set(id, 'absent');
    }
    return '';
  }

  /** The recordings of an operation that are known and on this desk, the first begun first. */
  of(op: Operation): Recording[] {
    // Ids sort by the time they were begun.
    return [...this.known.values()].filter((r) => r.operation_id === op.operation_id && !r.holder).sort((a, b) => (a.recording_id < b.recording_id ? -1 : 1));
  }

  /** The recording of this operation that runs: the recorder's, or its terminal's. */
  on(id: string): Recording | null {
    return this.current?.operation_id === id ? this.current : ([...this.known.values()].find((r) => r.operation_id === id && running(r)) ?? null);
  }

  /** Reads what the settings say a recording takes in, to be shown before it is chosen otherwise. */
  async usual(): Promise<void> {
    const before = this.#usual;
    try {
      const { settings } = await this.api.settings();
      const of = (key: string): unknown => settings.find((setting) => setting.key === key)?.value;
      const folders = of('recording.folders');
      const clipboard = of('recording.clipboard');
      this.#usual = {
        folders: Array.isArray(folders) ? (folders as string[]) : [],
        clipboard: clipboard === 'off' || clipboard === 'content' ? clipboard : 'kind',
      };
      if (!this.#chosen) {
        this.browser.profile = of('recording.browser.profile') === 'throwaway' ? 'throwaway' : 'kept';
        this.browser.network = of('recording.browser.network') === true;
        this.browser.console = of('recording.browser.console') === true;
      }
      this.#chosen = true;
    } catch {
      return;
    }
    if (this.options.folders.join('\n') === before.folders.join('\n')) this.options.folders = [...this.#usual.folders];
    if (this.options.clipboard === before.clipboard) this.options.clipboard = this.#usual.clipboard;
  }

  /** Starts to record an operation; one that nobody has claimed is claimed first. */
  async start(op: Operation, operator: string): Promise<boolean> {
    const { folders, clipboard, pictures } = this.options;
    // What is left as the settings say is left to them.
    const options: RecordingOptions = {
      ...(folders.join('\n') === this.#usual.folders.join('\n') ? {} : { folders: [...folders] }),
      ...(clipboard === this.#usual.clipboard ? {} : { clipboard }),
      pictures,
      ...(kindOf(op).work === 'browser' ? { browser: this.#browser(), desktop: this.browser.desktop } : {}),
    };
    return this.#do(async () => {
      if (op.claimed_by !== operator && !(await this.answering.claim(op.operation_id))) return;
      this.#take(await this.api.record(op.operation_id, options));
    });
  }

  #browser(): BrowserOptions {
    const { profile, attach, network, console, dom } = this.browser;
    const to = attach.trim();
    return { ...(profile === 'attach' && to ? { attach: to } : { profile: profile === 'throwaway' ? 'throwaway' : 'kept' }), network, console, dom };
  }

  /** Lets the operator point at something on the page for a field; without a field, no more. @throws Problem */
  pick(field: string, take?: Take): Promise<void> {
    return this.current ? this.api.pick(this.current.recording_id, { field, ...(take && { take }) }) : Promise.resolve();
  }

  /** Brings the browser to the front. @throws Problem */
  showBrowser(): Promise<void> {
    return this.current ? this.api.showBrowser(this.current.recording_id) : Promise.resolve();
  }

  pause(): Promise<boolean> {
    return this.#with((id) => this.api.pauseRecording(id));
  }

  resume(): Promise<boolean> {
    return this.#with((id) => this.api.resumeRecording(id));
  }

  /** Ends the recording once its notes are in it: one that came after its end would be refused. */
  stop(): Promise<boolean> {
    return this.#with(async (id) => {
      await Promise.all(this.#marks);
      return this.api.stopRecording(id);
    });
  }

  /** Ends the terminal of an operation, and with it its recording. */
  endTerminal(operation: string): Promise<boolean> {
    const recorded = this.on(operation)?.recording_id;
    return this.#do(async () => {
      await this.api.endTerminal(operation);
      if (recorded) this.#take(await this.api.recording(recorded));
    });
  }

  /** Stores a note. It waits for nothing. */
  mark(note: { text?: string; step?: number; done?: boolean }): Promise<boolean> {
    const mark = this.#with((id) => this.api.markRecording(id, note), 0);
    this.#marks.add(mark);
    return mark.finally(() => this.#marks.delete(mark));
  }

  /** Notes this moment, to be found again when the recording is looked through. */
  flag(): Promise<boolean> {
    return this.mark({ text: m.rec_mark_text() });
  }

  /** Notes in the recording that a step was ticked or unticked. */
  tick(step: number, done: boolean): void {
    const current = this.current;
    if (!current) return;
    const key = `${current.recording_id} ${step}`;
    if (done) this.ticks.set(key, this.elapsed);
    else this.ticks.delete(key);
    void this.mark({ step, done });
  }

  /** Throws away the recording that runs. */
  discard(): Promise<boolean> {
    const id = this.current?.recording_id;
    return id ? this.#away(id, () => this.api.discardRecording(id)) : Promise.resolve(false);
  }

  /** Deletes a recording that has ended. */
  remove(id: string): Promise<boolean> {
    return this.#away(id, () => this.api.deleteRecording(id));
  }

  /** Whether a recording is no more, or is being thrown away: there is nothing to ask of it. */
  leaving(id: string): boolean {
    return this.#going.has(id) || this.gone.has(id);
  }

  async #away(id: string, call: () => Promise<unknown>): Promise<boolean> {
    this.#going.add(id);
    const done = await this.#do(async () => {
      await call();
      this.#drop(id);
    });
    this.#going.delete(id);
    return done;
  }

  /** Takes over a list, as it is stored. */
  take(recordings: Recording[]): void {
    // Of the one that runs the live channel knows more than what is stored.
    for (const recording of recordings) if (recording.recording_id !== this.current?.recording_id || !running(recording)) this.#take(recording);
  }

  #take(recording: Recording): void {
    const whole = { ...recording, gaps: recording.gaps ?? [], sources: recording.sources ?? [], screens: recording.screens ?? [], options: recording.options ?? {} };
    if (this.gone.get(whole.recording_id) === 'dropped') return;
    this.gone.delete(whole.recording_id);
    const before = this.known.get(whole.recording_id);
    // What is lossy may come late: a recording that has ended runs no more.
    if (before && !running(before) && running(whole)) return;
    this.known.set(whole.recording_id, whole);
    // A terminal's runs beside whatever the recorder records.
    if (running(whole) && !whole.options.terminal) {
      this.current = whole;
      this.#heard = Math.max(Date.now(), ticker.now);
    } else if (this.current?.recording_id === whole.recording_id) this.current = null;
  }

  #drop(id: string): void {
    this.gone.set(id, 'dropped');
    this.known.delete(id);
    if (this.current?.recording_id === id) this.current = null;
  }

  #with(call: (id: string) => Promise<Recording>, counts = 1): Promise<boolean> {
    const id = this.current?.recording_id;
    return id ? this.#do(async () => this.#take(await call(id)), counts) : Promise.resolve(false);
  }

  async #do(work: () => Promise<void>, counts = 1): Promise<boolean> {
    this.#calls += counts;
    try {
      await work();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      // What is shown may be old: somebody stopped it elsewhere, or the limit did.
      void this.load();
      return false;
    } finally {
      this.#calls -= counts;
    }
  }
}
