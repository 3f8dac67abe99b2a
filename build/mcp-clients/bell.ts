// A Deskbell of the tests' own: `deskbell serve` on a folder that is thrown away, and its operator over REST.
import { type ChildProcess } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { serving } from '../../frontend/e2e/support/serving.js'

export const program = resolve(process.env.DESKBELL_BIN ?? '../bin/deskbell')

export interface Operation {
  operation_id: string
  state: string
  description: string
  agent_id: string
  delivered_at?: string
  presence?: { waiting: boolean }
  digest: string
  attachments?: { attachment_id: string; name: string; media_type: string; size: number }[]
  details?: { tool?: string; args?: Record<string, unknown>; about?: string }
}

export class Bell {
  url = ''
  #token = ''
  #process?: ChildProcess

  private constructor(
    readonly data: string,
    readonly settings: Record<string, string>,
  ) {}

  /** Starts one, with settings as environment variables. */
  static async start(settings: Record<string, string> = {}): Promise<Bell> {
    const bell = new Bell(await mkdtemp(join(tmpdir(), 'deskbell-mcp-')), settings)
    await bell.up()
    return bell
  }

  /** Serves, at the address it had before if it had one, and signs the operator in. */
  async up(): Promise<void> {
    const addr = this.url === '' ? '127.0.0.1:0' : new URL(this.url).host
    // Tests of a client run side by side, as one agent.
    const { child, ready } = await serving(program, ['--data', this.data, '--addr', addr], this.environment({ DESKBELL_HUMAN_MAX_PENDING_REQUESTS: '100', ...this.settings }))
    this.#process = child
    this.url = ready.url
    const session = await this.#fetch('/api/session', { code: ready.code })
    this.#token = session.token
  }

  /** Ends the server: in order, or as a crash would. */
  async down(signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Promise<void> {
    const child = this.#process
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const ended = new Promise((done) => child.once('exit', done))
    child.kill(signal)
    await ended
  }

  async remove(): Promise<void> {
    await this.down()
    await rm(this.data, { recursive: true, force: true })
  }

  /** The environment of a program that is to find this Deskbell and no other. */
  environment(more: Record<string, string> = {}): Record<string, string> {
    const { PATH = '', HOME = '' } = process.env
    return { PATH, HOME, DESKBELL_DATA: this.data, ...more }
  }

  /** A new agent's key. */
  async key(name: string): Promise<string> {
    return (await this.#fetch('/api/agents', { name })).key
  }

  operation(id: string): Promise<Operation> {
    return this.#fetch(`/api/human/operations/${id}`)
  }

  /** Waits until the agent has rung with these words, and returns the operation. */
  rung(agent: string, words: string): Promise<Operation> {
    return until(`${agent} rings with ${words}`, async () => {
      const page = await this.#fetch(`/api/human/operations?agent_id=${encodeURIComponent(agent)}&state=open`)
      return page.operations.find((op: Operation) => op.description === words)
    })
  }

  /** Waits until the server knows that nobody waits for an operation any more. */
  left(id: string): Promise<boolean> {
    return until(`nobody waits for ${id}`, async () => (await this.operation(id)).presence?.waiting !== true)
  }

  /** How many open operations an agent has. */
  async open(agent: string): Promise<number> {
    const page = await this.#fetch(`/api/human/operations?agent_id=${encodeURIComponent(agent)}&state=open`)
    return page.operations.length
  }

  answer(id: string, human_input: string): Promise<Operation> {
    return this.#fetch('/api/human/complete', { operation_id: id, human_input })
  }

  /** Answers with more than words: fields, findings. */
  complete(id: string, answer: object): Promise<Operation> {
    return this.#fetch('/api/human/complete', { operation_id: id, ...answer })
  }

  ask(id: string, text: string): Promise<Operation> {
    return this.#fetch('/api/human/reply', { operation_id: id, text })
  }

  /** Waits until the gatekeeper asks about a call of an agent's tool, and returns the question. */
  question(agent: string, tool: string): Promise<Operation> {
    return until(`${agent} is asked about ${tool}`, async () => {
      const page = await this.#fetch(`/api/human/operations?agent_id=${encodeURIComponent(agent)}&state=open&action_type=permission`)
      for (const { operation_id } of page.operations) {
        const op = await this.operation(operation_id)
        if (op.details?.tool === tool) return op
      }
      return undefined
    })
  }

  /** Answers such a question. */
  decide(op: Operation, choice: string, more: object = {}): Promise<Operation> {
    return this.#fetch(`/api/gate/questions/${op.operation_id}/answer`, { choice, digest: op.digest, ...more })
  }

  /** Answers a plan. */
  async respond(session: string, action: 'confirm' | 'modify' | 'cancel', more: object = {}): Promise<unknown> {
    const { operation_id } = await this.#fetch(`/api/plans/${session}`)
    const { digest } = await this.operation(operation_id)
    return this.#fetch(`/api/plans/${session}/response`, { action, digest, ...more })
  }

  /** Orders the agent of a running plan about. */
  order(session: string, order: string, more: object = {}): Promise<unknown> {
    return this.#fetch(`/api/plans/${session}/orders`, { order, ...more })
  }

  decline(id: string, reason: string): Promise<Operation> {
    return this.#fetch('/api/human/decline', { operation_id: id, reason })
  }

  /** Stores a file of the operator's and returns its id. */
  async attach(name: string, data: Uint8Array): Promise<string> {
    const answer = await fetch(`${this.url}/api/attachments?name=${encodeURIComponent(name)}`, {
      method: 'POST', headers: { Authorization: `Bearer ${this.#token}` }, body: data as Uint8Array<ArrayBuffer>,
    })
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    return ((await answer.json()) as { attachment_id: string }).attachment_id
  }

  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  async #fetch(path: string, body?: unknown): Promise<any> {
    const headers: Record<string, string> = this.#token === '' || path === '/api/session' ? {} : { Authorization: `Bearer ${this.#token}` }
    if (body !== undefined) headers['Content-Type'] = 'application/json'
    const request = { method: body === undefined ? 'GET' : 'POST', headers, body: body === undefined ? null : JSON.stringify(body) }
    const answer = await fetch(this.url + path, request).catch((err: Error) => {
      throw new Error(`${path}: ${err.message}: ${err.cause}`)
    })
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
}

/** Asks again and again until there is an answer, for so many milliseconds at most. */
export async function until<T>(what: string, ask: () => Promise<T | undefined | false>, most = 20_000): Promise<T> {
  for (const end = Date.now() + most; Date.now() < end; await new Promise((next) => setTimeout(next, 20))) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
  }
  throw new Error(`waited in vain until ${what}`)
}

/** A port that nobody listens on. */
export function free(): Promise<number> {
  return new Promise((found, failed) => {
    const s = createServer()
    s.once('error', failed)
    s.listen(0, '127.0.0.1', () => {
      const { port } = s.address() as { port: number }
      s.close(() => found(port))
    })
  })
}
