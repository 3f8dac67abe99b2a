import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { serving } from './serving';

export const program = process.env.DESKBELL_BIN ?? path.resolve(import.meta.dirname, '../../../build/bin/deskbell');

export interface Ref {
  kind: string;
  recording_id?: string;
  id: string;
}

export interface Finding {
  finding_id?: string;
  kind: string;
  text: string;
  evidence: Ref[];
  by_hand?: boolean;
  cut?: boolean;
}

export interface Answered {
  decision?: 'approve' | 'deny';
  verdict?: string;
  steps?: { step: number; verdict?: string; note?: string; at?: string; attachments?: string[] }[];
  human_input?: string;
  execution_result?: string;
  summary?: string;
  key_findings?: string[];
  fields?: Record<string, string>;
  attachments?: string[];
  findings?: Finding[];
  suggestions?: Finding[];
  by: { role: string; name: string };
}

export interface Operation {
  operation_id: string;
  version: number;
  state: string;
  overdue: boolean;
  digest: string;
  agent_id: string;
  description: string;
  claimed_by?: string;
  recordings: string[];
  messages: { by: { role: string; name: string }; text: string }[];
  result?: Answered;
  ended?: { by: { role: string; name: string }; reason?: string };
  delivered_at?: string;
  snoozed_until?: string;
  draft?: { human_input?: string; summary?: string; verdict?: string; steps?: { step: number }[]; findings?: Finding[]; suggestions?: Finding[] };
}

export interface Ring {
  action_type?: string;
  description: string;
  details?: unknown;
  context?: unknown;
  timeout?: number;
  priority?: number;
  session_id?: string;
  on_timeout?: string;
}

/** Somebody who calls the API. Every refusal throws, with the server's words. */
export class Caller {
  constructor(
    readonly server: Server,
    readonly secret: string,
  ) {}

  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const response = await fetch(this.server.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.secret}`, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text ? JSON.parse(text) : undefined) as T;
  }

  operation(id: string): Promise<Operation> {
    return this.call('GET', `/api/human/operations/${id}`);
  }

  /** Follows an operation by long polls until it is as wanted. The agent is waiting all that time. */
  async until(id: string, wanted: (op: Operation) => boolean, seconds = 20): Promise<Operation> {
    const end = Date.now() + seconds * 1000;
    let op = await this.operation(id);
    while (!wanted(op)) {
      if (Date.now() > end) throw new Error(`${id} is still ${op.state} after ${seconds} s`);
      op = await this.call('GET', `/api/human/operations/${id}?wait=2&after_version=${op.version}`);
    }
    return op;
  }
}

export class Agent extends Caller {
  ring(ring: Ring): Promise<Operation> {
    return this.call('POST', '/api/human/invoke', { action_type: 'approve', timeout: 600, ...ring });
  }

  reply(id: string, text: string): Promise<Operation> {
    return this.call('POST', '/api/human/reply', { operation_id: id, text });
  }

  cancel(id: string, reason: string): Promise<Operation> {
    return this.call('POST', '/api/human/cancel', { operation_id: id, reason });
  }
}

/** The real program, serving a data folder of its own. */
export class Server {
  url = '';
  #process: ChildProcess | undefined;
  #operator: Caller | undefined;
  #agents = new Map<string, Agent>();

  private constructor(
    readonly dir: string,
    readonly flags: string[],
    readonly env: Record<string, string>,
  ) {}

  static async start(flags: string[] = [], env: Record<string, string> = {}): Promise<Server> {
    const server = new Server(await mkdtemp(path.join(tmpdir(), 'deskbell-e2e-')), flags, env);
    await server.run('127.0.0.1:0');
    return server;
  }

  /** Starts the process and resolves when it is ready. */
  async run(addr: string): Promise<void> {
    const args = ['--data', this.dir, '--addr', addr, '--operator', 'mei', ...this.flags];
    // Most tests read what came of an answer right after it, where it was given.
    const quick = { DESKBELL_HUMAN_UNDO_SECONDS: '0', DESKBELL_UI_AUTO_ADVANCE: 'false' };
    const { child, ready } = await serving(this.env.DESKBELL_BIN ?? program, args, { ...process.env, ...quick, ...this.env });
    this.#process = child;
    this.url = ready.url;
    this.#operator = await this.signIn(ready.code);
  }

  /** Signs an operator in, as another browser would. */
  async signIn(code: string): Promise<Caller> {
    const { token } = await new Caller(this, '').call<{ token: string }>('POST', '/api/session', { code });
    return new Caller(this, token);
  }

  get operator(): Caller {
    if (!this.#operator) throw new Error('the server does not run');
    return this.#operator;
  }

  /** A one-time code and the link that carries it. */
  invite(): Promise<{ code: string; console: string }> {
    return this.operator.call('POST', '/api/session/codes', {});
  }

  /** An agent of that name, with a key of its own, the same one each time. */
  async agent(name: string): Promise<Agent> {
    let agent = this.#agents.get(name);
    if (!agent) {
      const { key } = await this.operator.call<{ key: string }>('POST', '/api/agents', { name });
      agent = new Agent(this, key);
      this.#agents.set(name, agent);
    }
    return agent;
  }

  /** Ends the process in order, or kills it. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#process;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  /** Starts it anew at the same address. */
  async again(): Promise<void> {
    await this.run(new URL(this.url).host);
  }

  /** Makes it a desk of the team that a link is for, and starts it again. */
  async join(link: string): Promise<void> {
    await this.operator.call('POST', '/api/team/join', { link });
    await this.stop();
    await this.again();
  }

  async end(): Promise<void> {
    await this.stop();
    await rm(this.dir, { recursive: true, force: true });
  }
}
