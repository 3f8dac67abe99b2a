// ACP's session/request_permission, answered by a person: the client's side, for any agent that speaks the Agent Client
// Protocol. A yes is the option allow_once, a no is reject_once; another option is taken where the person writes its name.
// Where no option says just that, or nobody decides, the answer is `cancelled`, and the agent does not go on. Copy this file
// and ../typescript/deskbell.ts.
import { createHash, randomUUID } from 'node:crypto'
import type { RequestPermissionRequest, RequestPermissionResponse, SessionNotification, ToolCallUpdate } from '@agentclientprotocol/sdk'
import type { Approval, Deskbell } from '../typescript/deskbell.ts'

const cancelled: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

/** How bad a call can be, by what the agent says of it. */
const risks: Record<string, Approval['risk']> = { read: 'low', search: 'low', think: 'low', delete: 'high', execute: 'high' }

/** One for each connection to an agent. */
export class Permissions {
  // Agents number sessions and calls anew each time they start, and what waits does not outlive the connection.
  private connection = randomUUID()
  private calls = new Map<string, Partial<ToolCallUpdate>>()
  private turns = new Map<string, AbortController>()

  constructor(bell: Deskbell, timeout = 600) {
    this.bell = bell
    this.timeout = timeout
  }
  private bell: Deskbell
  private timeout: number

  /** Of session/update: what an agent says of a call before it asks about it, which it need not repeat then. */
  update({ sessionId, update }: SessionNotification): void {
    if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') this.learn(sessionId, update)
  }

  /** Of session/request_permission. */
  async request({ sessionId, toolCall, options }: RequestPermissionRequest, signal?: AbortSignal): Promise<RequestPermissionResponse> {
    const known = this.learn(sessionId, toolCall)
    // Some agents say what they would do in the title alone. What is approved has to hold it.
    const { title, content, locations } = known
    const call = { name: known.name ?? known.kind ?? 'tool', args: known.rawInput ?? { title, content, locations } }
    const others = options.filter((o) => o.kind !== 'allow_once' && o.kind !== 'reject_once')
    const what = createHash('sha256').update(JSON.stringify([call, title, options])).digest('hex').slice(0, 16)
    let said
    try {
      said = await this.bell.approve(call, {
        key: `acp:${this.connection}:${sessionId}:${toolCall.toolCallId}:${what}`,
        session: sessionId,
        description: title || `Run ${call.name}?`,
        risk: risks[known.kind ?? ''] ?? 'medium',
        timeout: this.timeout,
        ...(others.length > 0 && { note: `More than this once: write ${others.map((o) => `"${o.name}"`).join(' or ')} with your answer.` }),
        signal: AbortSignal.any([this.turn(sessionId).signal, ...(signal ? [signal] : [])]),
      })
    } catch (err) {
      if (!this.turns.get(sessionId)?.signal.aborted && !signal?.aborted) console.error('deskbell:', err)
      return cancelled
    }
    if (said.nobody) return cancelled
    const side = said.yes ? 'allow' : 'reject'
    const fit = options.filter((o) => o.kind.startsWith(side + '_'))
    const words = said.words.trim().toLowerCase()
    const chosen = fit.find((o) => o.name.toLowerCase() === words) ?? fit.find((o) => o.kind === `${side}_once`)
    return chosen ? { outcome: { outcome: 'selected', optionId: chosen.optionId } } : cancelled
  }

  /** Withdraws what a session's turn still asks: to be called with session/cancel, after which ACP wants `cancelled`. */
  cancel(sessionId: string): void {
    this.turn(sessionId).abort()
  }

  /** To be called when a turn begins. */
  begin(sessionId: string): void {
    this.turns.set(sessionId, new AbortController())
  }

  private turn(sessionId: string): AbortController {
    const turn = this.turns.get(sessionId) ?? new AbortController()
    this.turns.set(sessionId, turn)
    return turn
  }

  private learn(sessionId: string, update: Partial<ToolCallUpdate>): Partial<ToolCallUpdate> {
    const id = `${sessionId}/${update.toolCallId}`
    const said = Object.fromEntries(Object.entries(update).filter(([, v]) => v !== undefined && v !== null))
    const known = { ...this.calls.get(id), ...said }
    this.calls.set(id, known)
    return known
  }
}
