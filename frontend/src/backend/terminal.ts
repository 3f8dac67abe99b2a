import { backoff } from '../lib/backoff';
import type { TerminalEvent, TerminalState } from '../lib/wire';
import { call, fetchBytes, type Connection } from './http';

export interface TerminalSize {
  cols: number;
  rows: number;
}

/** The code that a line is closed with when another page has taken the terminal. */
const taken = 4001;

const of = (operation: string): string => `/api/operations/${encodeURIComponent(operation)}/terminal`;

/** The calls about the terminal of an operation. Each throws a Problem and nothing else. */
export class TerminalApi {
  constructor(private readonly to: Connection) {}

  async state(operation: string): Promise<TerminalState> {
    const state = await call<TerminalState>(this.to, 'GET', of(operation));
    return { ...state, commands: state.commands ?? [], suggestions: state.suggestions ?? [] };
  }

  /** Starts a shell, and its recording. @throws Problem with `conflict` where one runs: connect to it */
  start(operation: string, size: TerminalSize): Promise<void> {
    return call(this.to, 'POST', of(operation), size);
  }

  /** What was shown in a terminal, as an asciicast of version 3. */
  async cast(recording: string): Promise<string> {
    return (await fetchBytes(this.to, `/api/recordings/${encodeURIComponent(recording)}/cast`)).bytes.text();
  }
}

export interface TerminalListener {
  /** A connection stands. What is shown is to be cleared: what the server kept comes next. */
  fresh(): void;
  /** Another page has it now. No more tries are made. */
  taken(): void;
  output(bytes: Uint8Array): void;
  event(event: TerminalEvent): void;
  /** Called on every change. */
  connected(yes: boolean): void;
  /** Asked when the line broke: false ends the tries, because there is no shell to come back to. */
  again(): Promise<boolean>;
}

/** The line to a shell. One that breaks is made anew, and the server sends what it kept of the output. */
export class TerminalSocket {
  #socket: WebSocket | undefined;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = true;

  constructor(
    private readonly to: Connection,
    private readonly operation: string,
    private readonly listener: TerminalListener,
  ) {}

  start(): void {
    if (!this.#stopped) return;
    this.#stopped = false;
    this.#attempt = 0;
    this.#open();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    this.#socket?.close();
    this.#socket = undefined;
  }

  /** Sends typed text, as long as a line stands: what is typed into a broken one would reach the shell when nobody expects it. */
  type(text: string): void {
    this.#send(new TextEncoder().encode(text));
  }

  /** Sends bytes that are no text, such as reports of an old mouse protocol. */
  bytes(binary: string): void {
    this.#send(Uint8Array.from(binary, (char) => char.charCodeAt(0)));
  }

  resize(size: TerminalSize): void {
    this.#send(JSON.stringify({ type: 'resize', ...size }));
  }

  /** Says that so many more bytes were drawn. */
  ack(bytes: number): void {
    this.#send(JSON.stringify({ type: 'ack', bytes }));
  }

  #send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(data);
  }

  #open(): void {
    const socket = new WebSocket(`${this.to.url.replace(/^http/, 'ws')}${of(this.operation)}/socket`, ['deskbell', `deskbell.bearer.${this.to.token}`]);
    socket.binaryType = 'arraybuffer';
    this.#socket = socket;
    socket.onopen = () => {
      if (this.#socket !== socket) return;
      this.#attempt = 0;
      this.listener.fresh();
      this.listener.connected(true);
    };
    socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
      if (this.#socket !== socket) return;
      if (typeof data === 'string') this.listener.event(JSON.parse(data) as TerminalEvent);
      else this.listener.output(new Uint8Array(data));
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      if (code !== taken) return this.#again();
      this.stop();
      this.listener.connected(false);
      this.listener.taken();
    };
  }

  #again(): void {
    this.#socket = undefined;
    if (this.#stopped) return;
    this.listener.connected(false);
    this.#timer = setTimeout(() => void this.#retry(), backoff(this.#attempt++, Math.random()));
  }

  async #retry(): Promise<void> {
    const wanted = await this.listener.again();
    if (this.#stopped || this.#socket) return;
    if (wanted) this.#open();
    else this.#stopped = true;
  }
}
