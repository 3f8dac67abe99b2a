// As much of Deskbell's REST API as these examples use, on fetch alone. Copy it into an agent of your own.
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'

/** What an agent asks of a person. */
export interface Ring {
  action_type: 'feedback' | 'approve' | 'review' | 'bash' | 'desktop' | 'browser'
  /** One line. */
  description: string
  details?: Record<string, unknown>
  session_id?: string
  /** Seconds. */
  timeout?: number
  /** What becomes of it then: `mark` leaves it open to a late answer. */
  on_timeout?: 'cancel' | 'mark'
  /** The same key with the same words is the same operation again, and rings nobody twice. */
  idempotency_key?: string
}

/** A ring and what came of it. */
export interface Operation {
  operation_id: string
  version: number
  state: 'pending' | 'claimed' | 'in_progress' | 'waiting_input' | 'completed' | 'cancelled' | 'declined'
  description: string
  session_id?: string
  delivered_at?: string
  messages: { by: { role: string; name?: string }; text: string }[]
  /** Once completed. */
  result?: {
    by: { name?: string }
    human_input?: string
    /** Of an approval. */
    decision?: 'approve' | 'deny'
    summary?: string
    key_findings?: string[]
    fields?: Record<string, string>
  }
  /** Once canceled or declined. */
  ended?: { reason?: string }
}

/** Whether nothing more will come of it. */
export function over(op: Operation): boolean {
  return op.state === 'completed' || op.state === 'cancelled' || op.state === 'declined'
}

/** What Deskbell answers where it refuses; its message says why, and what to do. */
export class Problem extends Error {
  status: number
  /** invalid, unauthorized, denied, not_found, conflict, exhausted, unavailable, internal */
  kind: string

  constructor(status: number, kind: string, detail: string) {
    super(detail)
    this.status = status
    this.kind = kind
  }
}

/** Where an agent rings. */
export class Deskbell {
  url: string
  key: string

  constructor(url: string, key: string) {
    this.url = url.replace(/\/$/, '')
    this.key = key
  }

  /** Takes the address and the agent's key from DESKBELL_URL and DESKBELL_KEY. */
  static fromEnv(): Deskbell {
    const { DESKBELL_URL, DESKBELL_KEY } = process.env
    if (!DESKBELL_KEY) throw new Error('DESKBELL_KEY is not set; `deskbell keys add my-agent` makes a key')
    return new Deskbell(DESKBELL_URL || 'http://127.0.0.1:7717', DESKBELL_KEY)
  }

  /**
   * Calls Deskbell. Where it cannot be reached it tries again for half a minute: a restart loses nothing, so an agent
   * need not notice one. So what is sent may arrive twice: a ring has a key, and the rest does no harm the second time.
   */
  async call<T>(method: 'GET' | 'POST', path: string, body?: unknown, signal?: AbortSignal): Promise<T> {
    for (let tries = 30; ; tries--) {
      try {
        return await this.#once<T>(method, path, body, signal)
      } catch (err) {
        if (tries === 0 || signal?.aborted || err instanceof Problem) throw err
        await pause(1000, undefined, { signal })
      }
    }
  }

  async #once<T>(method: string, path: string, body: unknown, signal?: AbortSignal): Promise<T> {
    const answer = await fetch(this.url + path, {
      method,
      headers: { Authorization: `Bearer ${this.key}`, 'Content-Type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
    })
    const text = await answer.text()
    if (answer.ok) return JSON.parse(text) as T
    let said: { kind?: string; detail?: string } = {}
    try {
      said = JSON.parse(text) // RFC 9457; a proxy on the way may answer with a page
    } catch {}
    throw new Problem(answer.status, said.kind ?? 'internal', said.detail ?? answer.statusText)
  }

  ring(r: Ring, signal?: AbortSignal): Promise<Operation> {
    return this.call('POST', '/api/human/invoke', { idempotency_key: randomUUID(), ...r }, signal)
  }

  /** Reads an operation. */
  get(id: string): Promise<Operation> {
    return this.#read(`/api/human/operations/${id}`)
  }

  /**
   * Reads an operation, and of its end tells Deskbell that it has arrived: who answered sees that, and it is not told again.
   * Deskbell notes it by itself as well, but not where the agent ends the moment it has read.
   */
  async #read(path: string, signal?: AbortSignal): Promise<Operation> {
    const op = await this.call<Operation>('GET', path, undefined, signal)
    return over(op) ? this.call('POST', '/api/human/delivered', { operation_id: op.operation_id }) : op
  }

  /** Waits, up to 25 seconds, until there is more to an operation than op says, and returns it. */
  changed(op: Operation, signal?: AbortSignal): Promise<Operation> {
    return this.#read(`/api/human/operations/${op.operation_id}?wait=25&after_version=${op.version}`, signal)
  }

  /**
   * Answers what a person asked back, and returns the operation as it then is. Where it has ended meanwhile, the reply came
   * too late, and that is no error.
   */
  async reply({ operation_id }: Pick<Operation, 'operation_id'>, text: string): Promise<Operation> {
    try {
      return await this.call('POST', '/api/human/reply', { operation_id, text })
    } catch (err) {
      if (err instanceof Problem && err.kind === 'conflict') return this.get(operation_id)
      throw err
    }
  }

  /** Withdraws a ring. */
  cancel(op: Operation, reason: string): Promise<Operation> {
    return this.call('POST', '/api/human/cancel', { operation_id: op.operation_id, reason })
  }

  /** Waits until an operation is over. Who asks back hears what `answer` says. Rejects when the signal aborts. */
  async ended(op: Operation, how: Waiting = {}): Promise<Operation> {
    const answer = how.answer ?? (() => 'I cannot answer questions. Please decide with what you see, or deny.')
    while (!over(op)) {
      if (op.state === 'waiting_input') op = await this.reply(op, await answer(op.messages.at(-1)?.text ?? ''))
      else op = await this.changed(op, how.signal)
    }
    return op
  }

  /**
   * Rings, and waits until it is over. When the signal aborts, the ring is withdrawn, so that nobody answers what nobody
   * waits for.
   */
  async ask(r: Ring, how: Waiting = {}): Promise<Operation> {
    return this.#waited(await this.ring(r, how.signal), how)
  }

  async #waited(op: Operation, how: Waiting): Promise<Operation> {
    try {
      return await this.ended(op, how)
    } catch (err) {
      if (how.signal?.aborted) await this.cancel(op, 'nobody waits for the answer any more').catch(() => {}) // or it has just ended
      throw err
    }
  }

  /**
   * Asks for a yes to exactly this call of a tool. All but a clear yes is a no: denied, declined, withdrawn, nobody there
   * in time. `words` are what the person wrote, or why nobody did; `nobody`: no person has decided anything.
   */
  async approve(call: Call, how: Approval): Promise<{ yes: boolean; words: string; nobody: boolean }> {
    const { key, session, description = `Run ${call.name}?`, risk = 'medium', timeout = 600, note, ...rest } = how
    const ring: Ring = {
      action_type: 'approve',
      description,
      details: { action: `${call.name}(${JSON.stringify(call.args)})`, risk_level: risk, tool: call.name, args: call.args, ...(note && { note }) },
      idempotency_key: key,
      timeout,
      on_timeout: 'cancel',
      ...(session && { session_id: session }),
    }
    let op = await this.ring(ring, how.signal)
    // A yes is for one call: where an answer under this key was taken before, this is another call.
    for (let n = 2; over(op) && op.delivered_at !== undefined; n++) op = await this.ring({ ...ring, idempotency_key: `${key}#${n}` }, how.signal)
    op = over(op) ? await this.get(op.operation_id) : await this.#waited(op, rest)
    const yes = op.state === 'completed' && op.result?.decision === 'approve'
    return { yes, words: (op.state === 'completed' ? op.result?.human_input : op.ended?.reason) ?? '', nobody: op.state === 'cancelled' }
  }
}

export interface Waiting {
  /** Answers what a person asks back. */
  answer?: (question: string) => string | Promise<string>
  signal?: AbortSignal
}

/** A call of a tool. */
export interface Call {
  name: string
  args: unknown
}

/** How a yes to a call is asked for. */
export interface Approval extends Waiting {
  /**
   * Names this very call: an id that the framework gave it. Asking with it again, before the answer was read, joins the ring
   * that exists.
   */
  key: string
  session?: string
  description?: string
  /** How bad it can be: medium where not given. */
  risk?: 'low' | 'medium' | 'high' | 'critical'
  /** Seconds until it is a no; 600 where not given. */
  timeout?: number
  /** What else the person should know. */
  note?: string
}
