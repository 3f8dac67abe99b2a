import type { TerminalCommand, TerminalEvent, TerminalState } from './wire';

/** What is typed for a suggestion, or why it cannot be. */
export type Inserted = { typed: string; changed: boolean } | { refused: 'empty' | 'lines' };

const steers = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/gu;

/** A sign in the place of a character that a terminal or a shell would obey, or that nobody sees. */
function shown(char: string): string {
  const code = char.charCodeAt(0);
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/**
 * The bytes that type a suggested command at a prompt without running it: never Enter, and nothing a terminal obeys. `bracketed` is
 * whether the shell takes pasted text as text (DEC mode 2004); without it a second line would run the first.
 */
export function insertion(command: string, bracketed: boolean): Inserted {
  const text = command.replace(/\r\n?/g, '\n').replace(/^(?:[ \t]*\n)+|(?:\n[ \t]*)+$/g, '');
  if (!text.trim()) return { refused: 'empty' };
  if (!bracketed && text.includes('\n')) return { refused: 'lines' };
  // A tab completes where text is not taken as text.
  const safe = (bracketed ? text : text.replaceAll('\t', ' ')).replace(steers, shown);
  return { typed: bracketed ? `\x1b[200~${safe}\x1b[201~` : safe, changed: safe !== text };
}

/** How far a suggested command got. */
export type Progress = { is: 'open' } | { is: 'inserted' } | { is: 'running' } | { is: 'run'; exit: number; edited: boolean };

/** How far a suggestion got, by its place among all. `inserted` is the place of the one that stands at the prompt, or -1. */
export function progress(at: number, commands: readonly TerminalCommand[], inserted: number): Progress {
  if (inserted === at) return { is: 'inserted' };
  const last = commands.findLast((command) => command.suggestion === at);
  if (!last) return { is: 'open' };
  if (last.exit_code === undefined) return { is: 'running' };
  return { is: 'run', exit: last.exit_code, edited: !!last.edited };
}

/** The commands with one that began, or ended. */
export function withCommand(commands: readonly TerminalCommand[], command: TerminalCommand): TerminalCommand[] {
  const at = commands.findIndex(({ id }) => id === command.id);
  return at < 0 ? [...commands, command] : commands.with(at, command);
}

/** The state after an event. What an event does not say stays. */
export function after(state: TerminalState, event: TerminalEvent): TerminalState {
  switch (event.type) {
    case 'command':
      return event.command ? { ...state, commands: withCommand(state.commands, event.command) } : state;
    case 'echo':
      return { ...state, echo: event.on ?? true };
    case 'state':
      return { ...state, running: event.running ?? state.running, exit_code: event.exit_code };
    default:
      return state;
  }
}

/** A mark of the shell's in its output: where the prompt begins, where it ends, or the command that begins or ends there. */
export type ShellMark = { is: 'prompt' | 'input' } | { is: 'begin' | 'end'; id: string };

/** Reads the body of an OSC 133. The server lets only the shell's own through, with the ids of the commands. */
export function shellMark(body: string): ShellMark | undefined {
  const [letter, ...rest] = body.split(';');
  if (letter === 'A' || letter === 'B') return { is: letter === 'A' ? 'prompt' : 'input' };
  const id = rest.find((part) => part.startsWith('aid='))?.slice('aid='.length);
  return id && (letter === 'C' || letter === 'D') ? { is: letter === 'C' ? 'begin' : 'end', id } : undefined;
}

/** How many commands were run and how many of them failed. */
export function counts(commands: readonly TerminalCommand[]): { n: number; failed: number } {
  return { n: commands.length, failed: commands.filter((command) => !!command.exit_code).length };
}

/** Where in the output a command stands: lines of the buffer. `end` is absent while it runs. */
export interface Mark {
  id: string;
  line: number;
  end?: number;
}

/** A command as its gutter draws it, in rows of the screen. */
export interface GutterRow {
  command: TerminalCommand;
  top: number;
  rows: number;
}

/** What stands beside the rows of a screen that shows the lines from `top` on. Those of lines that were scrolled away for good have line -1. */
export function gutter(marks: readonly Mark[], commands: readonly TerminalCommand[], top: number, rows: number): GutterRow[] {
  return marks.flatMap((mark) => {
    const command = commands.find(({ id }) => id === mark.id);
    if (!command || mark.line < 0) return [];
    const first = mark.line - top;
    const last = Math.max(first, (mark.end ?? mark.line) - top);
    return last < 0 || first >= rows ? [] : [{ command, top: first, rows: last - first + 1 }];
  });
}

/** Bytes after which what was drawn is acknowledged, so that the server sends on while the rest is drawn. */
const step = 16 * 1024;

/** Counts the bytes that were drawn, and says when to acknowledge how many more. */
export class Acks {
  #open = 0;

  /** What to acknowledge now that `n` more were drawn, or 0: in steps, and whatever is left once nothing waits to be drawn. */
  drawn(n: number, idle: boolean): number {
    this.#open += n;
    if (this.#open < step && !idle) return 0;
    const all = this.#open;
    this.#open = 0;
    return all;
  }
}

/** Seconds as one reads them beside a command: '0.4', '21'. */
export function seconds(ms: number): string {
  return ms < 9950 ? (ms / 1000).toFixed(1) : String(Math.round(ms / 1000));
}

/**
 * Keeps a key that was pressed for what was here before from reaching the shell: Enter held down on a button that gives the
 * terminal the keyboard, or pressed twice, would run what was only inserted.
 */
export class EnterGuard {
  #until = 0;
  #held = false;

  constructor(private readonly now: () => number) {}

  /** The terminal gets the keyboard after something was typed for the operator. `ms` is how long Enter does nothing. */
  arm(ms: number): void {
    this.#until = this.now() + ms;
    this.#held = true;
  }

  /** Whether a pressed key may go to the shell. */
  lets(key: { key: string; repeat: boolean }): boolean {
    if (!key.repeat) this.#held = false;
    return key.key !== 'Enter' || (!this.#held && this.now() >= this.#until);
  }
}
