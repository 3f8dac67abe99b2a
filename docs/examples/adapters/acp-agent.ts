// A tiny agent that speaks the Agent Client Protocol over its standard input and output, and asks before it deletes what the
// prompt names: "Delete old.log and new.log." Nothing is deleted: it only says so. acp-client.ts starts it.
import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'

const options: acp.PermissionOption[] = [
  { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
  { optionId: 'always', name: 'Always allow', kind: 'allow_always' },
  { optionId: 'no', name: 'Reject', kind: 'reject_once' },
]
let always = false

const agent = acp
  .agent({ name: 'deskbell-example' })
  .onRequest('initialize', () => ({ protocolVersion: acp.PROTOCOL_VERSION, agentCapabilities: {} }))
  .onRequest('session/new', () => ({ sessionId: 'session-1' }))
  .onNotification('session/cancel', () => {}) // the client answers what is asked with `cancelled`, and that ends the turn
  .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
    const update = (update: acp.SessionUpdate) => client.notify('session/update', { sessionId, update })
    const say = (text: string) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })
    const text = prompt.map((block) => (block.type === 'text' ? block.text : '')).join(' ')
    const only = process.env.OPTIONS?.split(',') // to try clients with fewer options
    for (const [i, path] of (text.match(/[\w-]+\.\w+/g) ?? []).entries()) {
      const toolCallId = `call-${i + 1}`
      await update({ sessionUpdate: 'tool_call', toolCallId, title: `Delete ${path}`, kind: 'delete', status: 'pending', rawInput: { path } })
      if (!always) {
        const offered = only ? options.filter((o) => only.includes(o.optionId)) : options
        const { outcome } = await client.request('session/request_permission', { sessionId, toolCall: { toolCallId }, options: offered })
        if (outcome.outcome === 'cancelled') {
          await say(`[${path}: cancelled]`)
          return { stopReason: 'cancelled' }
        }
        if (outcome.optionId === 'no') {
          await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'failed' })
          await say(`[${path}: not allowed]`)
          continue
        }
        always ||= outcome.optionId === 'always'
      }
      await update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
      await say(`[${path}: deleted]`)
    }
    return { stopReason: 'end_turn' }
  })

await agent.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream<Uint8Array>)).closed
