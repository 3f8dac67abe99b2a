// LangGraph's interrupt(), answered by a person. Two shapes of what a graph asks are known, and what each wants back:
//
//   {action_request: {action, args}, config: {allow_accept, allow_edit, allow_respond, allow_ignore}, description?}
//     (HumanInterrupt, also in a list)   -> [{type: accept | edit | response | ignore, args}]
//   {action_requests: [{name, args, description?}], review_configs: [{action_name, allowed_decisions}]}
//     (humanInTheLoopMiddleware)         -> {decisions: [{type: approve | edit | reject | respond, ...}]}
//
// The second also in camelCase, as LangChain's JavaScript writes it, and `arguments` for `args`. Any other value is a free
// question, and the person's words are what interrupt() returns.
//
// Only a clear yes lets an action run. Where the graph allows edits, an approval whose words are a JSON object changes
// those arguments. Copy this file and ../typescript/deskbell.ts.
import { createHash } from 'node:crypto'
import { Command, INTERRUPT, isInterrupted } from '@langchain/langgraph'
import type { Approval, Call, Deskbell, Operation } from '../typescript/deskbell.ts'

export interface How {
  /** How bad a call can be. */
  risk?: (call: Call) => Approval['risk']
  /** Seconds that a person has; 600 where not given. */
  timeout?: number
}

/**
 * No operator has answered a free question. The graph stays interrupted and the question stays open: invoke it again with null,
 * and it goes on with what was answered meanwhile.
 */
export class Unanswered extends Error {}

interface Graph {
  invoke(input: any, config: { configurable: { thread_id: string } }): Promise<unknown>
}

/**
 * Runs a graph to its end. Each interrupt rings, those at the same time at the same time. LangGraph runs an interrupted
 * node again from its beginning, and after a crash the whole process may: an interrupt has the same id then, so it is the
 * same operation, and rings nobody twice. To go on after a crash, give null for the input.
 */
export async function invoke(bell: Deskbell, graph: Graph, input: unknown, thread: string, how: How = {}): Promise<unknown> {
  const config = { configurable: { thread_id: thread } }
  let state = await graph.invoke(input, config)
  while (isInterrupted(state)) {
    const asked = state[INTERRUPT]
    const answers = await Promise.all(asked.map(async ({ id, value }) => [id, await answer(bell, thread, id ?? '', value, how)]))
    state = await graph.invoke(new Command({ resume: Object.fromEntries(answers) }), config)
  }
  return state
}

/** Has a person answer one interrupt; returns what to resume it with. */
export async function answer(bell: Deskbell, thread: string, id: string, value: unknown, how: How = {}): Promise<unknown> {
  // The value is in the key as well: a node that asks something else this time is a new question.
  const key = `langgraph:${thread}:${id}:${createHash('sha256').update(JSON.stringify(value ?? null)).digest('hex').slice(0, 16)}`
  const ask = new Asking(bell, thread, how)
  const requests = (Array.isArray(value) ? value : [value]) as HumanInterrupt[]
  if (requests.length > 0 && requests.every((r) => isObject(r) && isObject(r.action_request))) {
    return Promise.all(requests.map((r, i) => ask.humanInterrupt(r, `${key}:${i}`)))
  }
  const review = value as Review
  const camel = isObject(review) && Array.isArray(review.actionRequests)
  const actions = isObject(review) ? (review.action_requests ?? review.actionRequests) : undefined
  if (Array.isArray(actions)) {
    const configs = review.review_configs ?? review.reviewConfigs ?? []
    const decisions = actions.map((action, i) => {
      const config = configs.find((c) => (c.action_name ?? c.actionName) === action.name)
      return ask.review(action, config?.allowed_decisions ?? config?.allowedDecisions ?? [], camel, `${key}:${i}`)
    })
    return { decisions: await Promise.all(decisions) }
  }
  return ask.question(value, key)
}

interface Action {
  name?: string
  action?: string
  args?: Record<string, unknown>
  arguments?: Record<string, unknown>
  description?: string
}

interface HumanInterrupt {
  action_request: Action
  config?: { allow_accept?: boolean; allow_edit?: boolean; allow_respond?: boolean; allow_ignore?: boolean }
  description?: string
}

interface Review {
  action_requests?: Action[]
  actionRequests?: Action[]
  review_configs?: { action_name?: string; actionName?: string; allowed_decisions?: string[]; allowedDecisions?: string[] }[]
  reviewConfigs?: Review['review_configs']
}

class Asking {
  constructor(bell: Deskbell, session: string, how: How) {
    this.bell = bell
    this.session = session
    this.how = how
  }
  private bell: Deskbell
  private session: string
  private how: How

  async humanInterrupt({ action_request: action, config = {}, description }: HumanInterrupt, key: string) {
    if (!config.allow_accept && !config.allow_edit && config.allow_respond) {
      const words = await this.words(description ?? action.action ?? '', key, action).catch(unanswered)
      return words instanceof Unanswered ? { type: 'ignore', args: null } : { type: 'response', args: words }
    }
    const call = { name: action.action ?? '', args: action.args ?? action.arguments ?? {} }
    const said = await this.approve(call, description, config.allow_edit ?? false, key)
    if (said.yes && said.edited) return { type: 'edit', args: { action: call.name, args: said.edited } }
    if (said.yes && config.allow_accept) return { type: 'accept', args: null }
    if (said.yes) return { type: 'edit', args: { action: call.name, args: call.args } }
    return said.words && config.allow_respond ? { type: 'response', args: said.words } : { type: 'ignore', args: null }
  }

  async review(action: Action, allowed: string[], camel: boolean, key: string) {
    if (allowed.length > 0 && allowed.every((d) => d === 'respond' || d === 'reject') && allowed.includes('respond')) {
      const words = await this.words(action.description ?? action.name ?? '', key, action).catch(unanswered)
      return words instanceof Unanswered ? { type: 'reject', message: words.message } : { type: 'respond', message: words }
    }
    const call = { name: action.name ?? '', args: action.args ?? action.arguments ?? {} }
    const said = await this.approve(call, action.description, allowed.includes('edit'), key)
    const edited = said.edited ?? (allowed.includes('approve') ? undefined : call.args)
    if (said.yes && edited) return { type: 'edit', [camel ? 'editedAction' : 'edited_action']: { name: call.name, args: edited } }
    if (said.yes) return { type: 'approve' }
    // Even where the graph does not allow it: the middleware then fails, and nothing runs.
    return { type: 'reject', message: said.words || 'A person said no.' }
  }

  /** A free question. */
  async question(value: unknown, key: string): Promise<string> {
    const text = isObject(value) ? (value.question ?? value.message ?? value.description) : value
    return this.words(typeof text === 'string' && text ? text : JSON.stringify(value), key, value, true)
  }

  private async approve(call: { name: string; args: Record<string, unknown> }, description: string | undefined, editable: boolean, key: string): Promise<Said> {
    const { risk, timeout } = this.how
    const said = await this.bell.approve(call, {
      key,
      session: this.session,
      ...(description && { description: line(description) }),
      ...(risk && { risk: risk(call) }),
      ...(timeout && { timeout }),
      ...(editable && { note: 'To change arguments, approve and write those that change as a JSON object.' }),
    })
    const change = said.yes ? objectIn(said.words) : undefined
    if (change === undefined) return said
    // They want another call than the one they saw. Where that cannot be had exactly, it is a no.
    const unknown = Object.keys(change).find((name) => !(name in call.args))
    if (!editable) return { yes: false, words: `changed to ${said.words}, but the graph takes no changes` }
    if (unknown !== undefined) return { yes: false, words: `${call.name} was not called with ${unknown}; asked for: ${said.words}` }
    return { ...said, edited: { ...call.args, ...change } }
  }

  /** late: a late answer is still worth having. */
  private async words(description: string, key: string, details: unknown, late = false): Promise<string> {
    const { timeout = 600 } = this.how
    const op = await this.bell.ring({
      action_type: 'feedback',
      description: line(description),
      details: isObject(details) ? details : {},
      session_id: this.session,
      idempotency_key: key,
      timeout,
      on_timeout: late ? 'mark' : 'cancel',
    })
    const patience = AbortSignal.timeout(timeout * 1000)
    const end: Operation = await this.bell.ended(op, late ? { signal: patience } : {}).catch((err) => {
      throw late && patience.aborted ? new Unanswered(`nobody has answered ${op.operation_id} yet`) : err
    })
    if (end.state !== 'completed') throw new Unanswered(`${end.state}: ${end.ended?.reason ?? ''}`)
    return end.result?.human_input ?? ''
  }
}

/** What came of asking for a yes. */
interface Said {
  yes: boolean
  words: string
  /** All arguments, where the person changed some. */
  edited?: Record<string, unknown>
}

function unanswered(err: unknown): Unanswered {
  if (err instanceof Unanswered) return err
  throw err
}

/** The first line; the whole is in the details. */
function line(text: string): string {
  return text.trim().split('\n', 1)[0]!.slice(0, 300)
}

function isObject(v: unknown): v is Record<string, unknown> {
  return typeof v === 'object' && v !== null && !Array.isArray(v)
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const v: unknown = JSON.parse(text)
    return isObject(v) ? v : undefined
  } catch {
    return undefined
  }
}
