import { TerminalApi, TerminalSocket, type TerminalSize } from '../../backend/terminal';
import { Problem } from '../../backend/http';
import { lines, sent } from '../../lib/details';
import { ended } from '../../lib/life';
import { Acks, after, insertion, progress, type Progress } from '../../lib/terminal';
import type { TerminalEvent, TerminalState } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { errorText } from '../../state/sentences.svelte';

/** What draws a terminal. */
export interface Drawn {
  readonly size: TerminalSize;
  /** Whether the shell takes pasted text as text. */
  readonly bracketed: boolean;
  clear(): void;
  write(bytes: Uint8Array, drawn: (idle: boolean) => void): void;
  /** Input is not shown from here on, or is again. */
  echo(on: boolean): void;
  /** Gives it the keyboard; `typed` where something was just typed for the operator. */
  focus(typed: boolean): void;
}

/** How long a shell has to say that it tells its commands apart, in milliseconds: its files may take a while. */
const toTell = 3000;

/** The keys from which the prompt's line is no longer what was inserted: Enter, and those that take all of it away. */
const ends = /[\r\n\x03\x04\x15]/;

/** The terminal of one operation: its shell, what was run in it, and what is suggested. */
export class TerminalWork {
  state = $state.raw<TerminalState>();
  trouble = $state('');
  /** The line to the shell stands. */
  connected = $state(false);
  /** A call that starts or ends it is under way. */
  busy = $state(false);
  /** Another page has the terminal. */
  taken = $state(false);
  /** The shell says that it waits for a command. */
  prompting = $state(false);
  /** The shell had the time to say so, and did not: it is one that tells nothing. */
  untold = $state(false);
  size = $state.raw<TerminalSize>({ cols: 96, rows: 24 });
  /** The place of the suggestion that stands at the prompt, or -1. */
  inserted = $state(-1);
  /** Why the last suggestion was not inserted, or what was changed in it. */
  note = $state('');
  #drawn = $state.raw<Drawn>();
  #acks = new Acks();
  #telling: ReturnType<typeof setTimeout> | undefined;
  #counting: ReturnType<typeof setTimeout> | undefined;
  #socket: TerminalSocket;
  #api: TerminalApi;

  readonly running = $derived(!!this.state?.running);
  /** Nothing runs in the shell, and what is typed is shown: a command can be typed at the prompt. */
  readonly atPrompt = $derived(this.running && this.connected && this.state?.echo !== false && (this.prompting || (this.untold && !this.state?.told)));
  /** It was started before, and has ended. */
  readonly over = $derived(!!this.state && !this.state.running && (this.state.exit_code !== undefined || !!this.state.recording_id));

  constructor(private readonly opened: OpenOperation) {
    const { to } = opened.app.api;
    this.#api = new TerminalApi(to);
    this.#socket = new TerminalSocket(to, opened.id, {
      fresh: () => {
        this.#acks = new Acks();
        this.taken = false;
        this.#drawn?.clear();
        // What was run before the line stood is not told on it.
        void this.look();
        this.untold = false;
        clearTimeout(this.#telling);
        this.#telling = setTimeout(() => void this.look().then(() => (this.untold = !this.state?.told)), toTell);
      },
      output: (bytes) => this.#output(bytes),
      event: (event) => this.#heard(event),
      connected: (yes) => (this.connected = yes),
      taken: () => (this.taken = true),
      again: () => this.look(),
    });
  }

  /** Whether this session may use terminals at all: a phone's may not. */
  get allowed(): boolean {
    return this.opened.app.may('POST /api/operations/{id}/terminal');
  }

  /** The suggested commands, as they were sent. */
  get suggested(): string[] {
    const { op } = this.opened;
    if (this.state) return this.state.suggestions.map(({ text }) => text);
    return op ? sent(op, 'command').flatMap(([, value]) => lines(value)) : [];
  }

  progress(at: number): Progress {
    return progress(at, this.state?.commands ?? [], this.inserted);
  }

  /** Reads how it stands. False where there is no shell to connect to. */
  async look(): Promise<boolean> {
    const { op } = this.opened;
    if (!this.allowed || !op || ended(op) || op.claimed_by !== this.opened.app.operator) return false;
    try {
      this.state = await this.#api.state(this.opened.id);
      return this.state.running;
    } catch (error) {
      if (!(error instanceof Problem) || error.offline) return true;
      this.trouble = errorText(error);
      return false;
    }
  }

  /** Something draws it: what the shell prints goes there. Returns the undo. */
  draw(drawn: Drawn): () => void {
    this.#drawn = drawn;
    this.#socket.start();
    return () => {
      this.#drawn = undefined;
      this.#socket.stop();
      this.connected = false;
    };
  }

  /** Starts a shell; an operation that nobody has claimed is claimed first. */
  async open(): Promise<void> {
    const { op, app } = this.opened;
    if (!op || this.busy) return;
    this.busy = true;
    this.trouble = this.note = '';
    this.inserted = -1;
    try {
      if (op.claimed_by !== app.operator && !(await app.answering.claim(op.operation_id))) return;
      await this.#api.start(op.operation_id, this.size);
    } catch (error) {
      // One that runs already is what was asked for.
      if (!(error instanceof Problem && error.conflict)) this.trouble = errorText(error);
    } finally {
      this.busy = false;
    }
    const failed = this.trouble;
    await this.look();
    this.trouble ||= failed;
    // What draws it starts the line itself when it is loaded; before, what the shell prints would be lost.
    if (this.#drawn) this.#socket.start();
  }

  /** Ends the shell, and with it its recording. */
  async stop(): Promise<void> {
    const { recorder } = this.opened.app;
    this.busy = true;
    const done = await recorder.endTerminal(this.opened.id);
    this.busy = false;
    this.trouble = done ? '' : recorder.trouble;
    await this.look();
  }

  /** Takes the terminal back from another page. */
  takeBack(): void {
    this.taken = false;
    this.#socket.start();
  }

  /** Types a suggestion at the prompt. Only the operator presses Enter. */
  insert(at: number): void {
    const drawn = this.#drawn;
    const text = this.suggested[at];
    if (!drawn || text === undefined || !this.atPrompt) return;
    const made = insertion(text, drawn.bracketed);
    if ('refused' in made) {
      this.note = made.refused === 'lines' ? m.term_refused_lines() : m.term_refused_empty();
      return;
    }
    this.note = made.changed ? m.term_made_safe() : '';
    // What was inserted before and not run gives way: two commands in one line are neither.
    this.#socket.type((this.inserted >= 0 ? '\x05\x15' : '') + made.typed);
    this.inserted = at;
    drawn.focus(true);
  }

  /** What was typed, or what the terminal itself answers a program. */
  typed(text: string): void {
    if (ends.test(text)) this.inserted = -1;
    this.#socket.type(text);
  }

  binary(text: string): void {
    this.#socket.bytes(text);
  }

  resized(size: TerminalSize): void {
    this.size = size;
    this.#socket.resize(size);
  }

  focus(): void {
    this.#drawn?.focus(false);
  }

  /** Gives the keyboard to the answer. */
  leave(): void {
    this.opened.focus('answer');
  }

  #output(bytes: Uint8Array): void {
    const acks = this.#acks;
    this.#drawn?.write(bytes, (idle) => {
      const n = acks.drawn(bytes.length, idle);
      // What was drawn of a line that broke is none of the next one's.
      if (n && acks === this.#acks) this.#socket.ack(n);
    });
  }

  #heard(event: TerminalEvent): void {
    if (!this.state) return;
    this.state = after(this.state, event);
    if (event.command && !event.command.ended_at) this.inserted = -1;
    if (event.type === 'echo') this.#drawn?.echo(this.state.echo);
    if (event.type === 'command') this.#count();
    if (this.running) return;
    this.#socket.stop();
    this.connected = false;
  }

  /** What was printed and masked is counted by the server, and read after each command. */
  #count(): void {
    clearTimeout(this.#counting);
    this.#counting = setTimeout(() => void this.look(), 500);
  }

  commands(): Command[] {
    const { opened } = this;
    const open = (): boolean => !!opened.op && !ended(opened.op) && opened.mine && this.allowed;
    return [
      { id: 'terminal', label: () => (this.running ? m.term_go() : this.over ? m.term_restart() : m.term_open()), keys: ['t'], group: 'answer', when: () => open() && !this.busy && (this.running || !this.state?.problem), run: () => (this.running ? this.focus() : void this.open()) },
      { id: 'terminal-stop', label: m.term_stop, keys: [], group: 'answer', when: () => open() && this.running && !this.busy, run: () => void this.stop() },
      ...Array.from({ length: 9 }, (_, i): Command => ({
        id: `insert-${i + 1}`, label: () => m.term_insert_n({ n: i + 1 }), keys: [`Alt+${i + 1}`], group: 'answer', when: () => this.atPrompt && i < this.suggested.length, run: () => this.insert(i),
      })),
    ];
  }

  close(): void {
    clearTimeout(this.#counting);
    clearTimeout(this.#telling);
    this.#socket.stop();
  }
}

const works = new WeakMap<OpenOperation, TerminalWork>();

/** The terminal of an operation that is on screen: the same for all parts of its page. */
export function terminalOf(opened: OpenOperation): TerminalWork {
  const known = works.get(opened);
  if (known) return known;
  let work!: TerminalWork;
  // What is derived would end with the part of the page that asks first.
  $effect.root(() => {
    work = new TerminalWork(opened);
  });
  works.set(opened, work);
  return work;
}
