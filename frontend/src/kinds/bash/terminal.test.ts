import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { OpenOperation } from '../../state/openoperation.svelte';
import type { TerminalEvent } from '../../lib/wire';
import { TerminalWork, type Drawn } from './terminal.svelte';

/** The other end of a socket. */
class Line {
  static readonly OPEN = 1;
  static all: Line[] = [];
  readyState = 0;
  binaryType = '';
  sent: string[] = [];
  onopen?: () => void;
  onmessage?: (event: { data: string | ArrayBuffer }) => void;
  onclose?: (event: { code: number }) => void;
  constructor(readonly url: string, readonly protocols: string[]) {
    Line.all.push(this);
  }
  send(data: string | Uint8Array): void {
    this.sent.push(typeof data === 'string' ? data : new TextDecoder().decode(data));
  }
  close(): void {
    this.readyState = 3;
  }
  stands(): void {
    this.readyState = 1;
    this.onopen?.();
  }
  says(message: TerminalEvent): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }
  prints(n: number): void {
    this.onmessage?.({ data: new ArrayBuffer(n) });
  }
  breaks(code = 1006): void {
    this.readyState = 3;
    this.onclose?.({ code });
  }
}

const suggestions = ['make', 'ls\nrm x'].map((text) => ({ text, decision: 'ask', risk: 'low', reasons: [] }));
const state = { running: true, recording_id: 'rec_1', commands: [], suggestions, echo: true };
let answers: Record<string, { status: number; body: unknown }>;
let called: string[];

function drawing(bracketed = true): Drawn & { log: string[]; finish(idle: boolean): void } {
  const waiting: ((idle: boolean) => void)[] = [];
  const log: string[] = [];
  return {
    log, bracketed, size: { cols: 80, rows: 20 },
    clear: () => log.push('clear'),
    write: (bytes, drawn) => {
      log.push(`write ${bytes.length}`);
      waiting.push(drawn);
    },
    echo: (on) => log.push(`echo ${on}`),
    focus: (typed) => log.push(`focus ${typed}`),
    finish: (idle) => waiting.shift()?.(idle),
  };
}

/** One that nothing was read of yet. */
function fresh(claimed_by = 'mei'): TerminalWork {
  const op = { operation_id: 'op_1', action_type: 'bash', state: 'claimed', claimed_by, details: { command: ['make'] } };
  const app = {
    operator: 'mei', may: () => true, recorder: {}, api: { to: { url: 'http://deskbell', token: 'secret' } },
    answering: { claim: async () => ((op.claimed_by = 'mei'), called.push('claim'), true) },
  };
  return new TerminalWork({ id: 'op_1', op, app, mine: true, answers: () => [] } as unknown as OpenOperation);
}

/** One whose state was read. */
async function working(): Promise<TerminalWork> {
  const work = fresh();
  await work.look();
  return work;
}

beforeEach(() => {
  vi.useFakeTimers();
  Line.all = [];
  called = [];
  answers = { GET: { status: 200, body: state }, POST: { status: 201, body: {} }, DELETE: { status: 204, body: undefined } };
  vi.stubGlobal('WebSocket', Line);
  vi.stubGlobal('fetch', async (url: string, { method = '' }: RequestInit) => {
    called.push(`${method} ${url.replace('http://deskbell', '')}`);
    const { status, body } = answers[method] ?? { status: 404, body: {} };
    return new Response(status === 204 ? null : JSON.stringify(body), { status });
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

test('opening claims, starts, and connects; the token stands in no address', async () => {
  const work = fresh('');
  work.draw(drawing());
  await work.open();
  expect(called).toEqual(['claim', 'POST /api/operations/op_1/terminal', 'GET /api/operations/op_1/terminal']);
  expect(work.running).toBe(true);
  expect(Line.all).toHaveLength(1);
  expect(Line.all[0]?.url).toBe('ws://deskbell/api/operations/op_1/terminal/socket');
  expect(Line.all[0]?.protocols).toContain('deskbell.bearer.secret');
});

test('nothing is connected before there is what draws it: what the shell prints would be lost', async () => {
  const work = fresh('');
  await work.open();
  expect(Line.all).toHaveLength(0);
  work.draw(drawing());
  expect(Line.all).toHaveLength(1);
});

test('one that runs already is connected to', async () => {
  answers.POST = { status: 409, body: { detail: 'It runs' } };
  const work = await working();
  work.draw(drawing());
  await work.open();
  expect(work.trouble).toBe('');
  expect(work.running).toBe(true);
});

test('what could not be started is said', async () => {
  answers.POST = { status: 422, body: { detail: 'No shell was found' } };
  answers.GET = { status: 200, body: { ...state, running: false } };
  const work = await working();
  await work.open();
  expect(work.trouble).toBe('No shell was found');
});

test('a suggestion is typed only at a prompt, and stands there until something is run', async () => {
  const work = await working();
  const drawn = drawing();
  work.draw(drawn);
  const [line] = Line.all as [Line];
  work.insert(0);
  expect(line.sent).toEqual([]);
  line.stands();
  work.prompting = true;
  work.insert(0);
  expect(line.sent).toEqual(['\x1b[200~make\x1b[201~']);
  expect(work.inserted).toBe(0);
  expect(drawn.log.at(-1)).toBe('focus true');
  work.prompting = false;
  const command = { id: 'a1', text: 'make', started_at: 'x', output_lines: 0 };
  line.says({ type: 'command', command });
  expect(work.inserted).toBe(-1);
  work.insert(0);
  expect(line.sent).toHaveLength(1);
  line.says({ type: 'command', command: { ...command, ended_at: 'x', exit_code: 0 } });
  work.prompting = true;
  line.says({ type: 'echo', on: false });
  expect(drawn.log.at(-1)).toBe('echo false');
  work.insert(0);
  expect(line.sent).toHaveLength(1);
  line.says({ type: 'echo', on: true });
  work.insert(0);
  expect(line.sent).toHaveLength(2);
  work.insert(7);
  expect(line.sent).toHaveLength(2);
  work.close();
});

test('a shell that tells nothing gets suggestions once it had the time to', async () => {
  const work = await working();
  work.draw(drawing());
  const [line] = Line.all as [Line];
  line.stands();
  work.insert(0);
  expect(line.sent).toEqual([]);
  await vi.runAllTimersAsync();
  work.insert(0);
  expect(line.sent).toHaveLength(1);
  work.close();
});

test('a second suggestion takes the place of the first; one that was taken away is there no more', async () => {
  const work = await working();
  work.draw(drawing());
  const [line] = Line.all as [Line];
  line.stands();
  work.prompting = true;
  work.insert(0);
  work.insert(1);
  expect(line.sent.at(-1)).toBe('\x05\x15\x1b[200~ls\nrm x\x1b[201~');
  expect(work.inserted).toBe(1);
  work.typed('\x03');
  expect(work.inserted).toBe(-1);
});

test('several lines are refused where the shell would run the first, and it is said', async () => {
  const work = await working();
  work.draw(drawing(false));
  const [line] = Line.all as [Line];
  line.stands();
  work.prompting = true;
  work.insert(1);
  expect(line.sent).toEqual([]);
  expect(work.note).not.toBe('');
  expect(work.inserted).toBe(-1);
});

test('a line that breaks is made anew, what was shown is cleared, and nothing typed meanwhile is sent later', async () => {
  const work = await working();
  const drawn = drawing();
  work.draw(drawn);
  const [first] = Line.all as [Line];
  first.stands();
  first.prints(10);
  first.breaks();
  expect(work.connected).toBe(false);
  work.typed('rm -rf x\r');
  await vi.runOnlyPendingTimersAsync();
  const second = Line.all[1] as Line;
  second.stands();
  expect(work.connected).toBe(true);
  expect(drawn.log.filter((what) => what === 'clear')).toHaveLength(2);
  // What was drawn of the first counts for the first alone.
  drawn.finish(true);
  second.prints(20);
  drawn.finish(true);
  expect(second.sent).toEqual([JSON.stringify({ type: 'ack', bytes: 20 })]);
  work.close();
});

test('two pages do not take it from each other again and again', async () => {
  const work = await working();
  work.draw(drawing());
  (Line.all[0] as Line).stands();
  (Line.all[0] as Line).breaks(4001);
  await vi.runAllTimersAsync();
  expect(Line.all).toHaveLength(1);
  expect(work.taken).toBe(true);
  work.takeBack();
  expect(Line.all).toHaveLength(2);
  expect(work.taken).toBe(false);
  work.close();
});

test('without a shell to come back to it is not tried again', async () => {
  const work = await working();
  work.draw(drawing());
  (Line.all[0] as Line).stands();
  answers.GET = { status: 200, body: { ...state, running: false, exit_code: 1 } };
  (Line.all[0] as Line).breaks(4000);
  await vi.runAllTimersAsync();
  expect(Line.all).toHaveLength(1);
  expect(work.over).toBe(true);
  expect(work.state?.exit_code).toBe(1);
});

test('a server that is away is asked again and again', async () => {
  const work = await working();
  work.draw(drawing());
  (Line.all[0] as Line).stands();
  vi.stubGlobal('fetch', async () => Promise.reject(new TypeError('no server')));
  (Line.all[0] as Line).breaks();
  await vi.runOnlyPendingTimersAsync();
  expect(Line.all).toHaveLength(2);
  work.close();
});
