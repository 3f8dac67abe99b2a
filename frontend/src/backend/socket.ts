import { backoff } from '../lib/backoff';
import type { Connection } from './http';
import type { Live } from '../lib/wire';

export interface Listener {
  /** `fresh` is true when nothing is known yet, or what is known may have holes: read everything again. */
  hello(seq: number, fresh: boolean): void;
  message(message: Live): void;
  /** Called on every change; false from the moment the line breaks until the next hello. */
  connected(yes: boolean): void;
  /** Asked when the line cannot be had: false ends the tries, because the server knows this session no more. */
  welcome(): Promise<boolean>;
}

/**
 * The live channel. It keeps the place in the journal, so that a broken line loses no event: it comes back with the
 * last `seq` it saw, and does the same when it finds a gap.
 */
export class LiveChannel {
  #socket: WebSocket | undefined;
  #last = -1;
  #attempt = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #stopped = false;

  constructor(
    private readonly to: Connection,
    private readonly listener: Listener,
  ) {}

  start(): void {
    this.#stopped = false;
    this.#last = -1;
    this.#attempt = 0;
    this.#open();
    window.addEventListener('online', this.#now);
  }

  stop(): void {
    this.#stopped = true;
    window.removeEventListener('online', this.#now);
    clearTimeout(this.#timer);
    this.#socket?.close();
  }

  #now = (): void => {
    if (this.#socket?.readyState === WebSocket.OPEN || this.#stopped) return;
    this.#attempt = 0;
    clearTimeout(this.#timer);
    this.#open();
  };

  #open(): void {
    const after = this.#last >= 0 ? `?after=${this.#last}` : '';
    const url = this.to.url.replace(/^http/, 'ws') + '/api/ws' + after;
    const socket = new WebSocket(url, ['deskbell', `deskbell.bearer.${this.to.token}`]);
    this.#socket = socket;
    socket.onmessage = (event) => this.#receive(socket, String(event.data));
    socket.onclose = () => {
      if (this.#socket === socket) this.#again();
    };
  }

  #receive(socket: WebSocket, data: string): void {
    if (this.#socket !== socket) return;
    const message = JSON.parse(data) as Live;
    if (message.type === 'hello') {
      this.#attempt = 0;
      const fresh = this.#last < 0;
      if (fresh) this.#last = message.seq;
      this.listener.connected(true);
      this.listener.hello(message.seq, fresh);
      return;
    }
    if ('seq' in message) {
      if (message.seq <= this.#last) return;
      if (message.seq > this.#last + 1) {
        socket.close();
        return;
      }
      this.#last = message.seq;
    }
    this.listener.message(message);
  }

  #again(): void {
    this.#socket = undefined;
    if (this.#stopped) return;
    this.listener.connected(false);
    this.#timer = setTimeout(() => void this.#retry(), backoff(this.#attempt++, Math.random()));
  }

  /** A refused handshake looks like a broken line; only a call can tell them apart. */
  async #retry(): Promise<void> {
    if (await this.listener.welcome()) {
      if (!this.#stopped && !this.#socket) this.#open();
    } else this.stop();
  }
}
