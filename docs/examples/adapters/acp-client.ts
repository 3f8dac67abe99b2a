// A client of the Agent Client Protocol that has a person decide what the agent may do (see acp.ts). It starts an agent, gives
// it one prompt, and prints what it says:
//
//     cd docs/examples && npm install
//     export DESKBELL_URL=http://127.0.0.1:7717 DESKBELL_KEY=...    # deskbell keys add my-client
//     export NODE_OPTIONS=--experimental-strip-types
//     node adapters/acp-client.ts "Delete old.log, please." node adapters/acp-agent.ts
//
// After the prompt comes the command of any agent that speaks ACP. Ctrl+C cancels the turn.
import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import * as acp from '@agentclientprotocol/sdk'
import { Deskbell } from '../typescript/deskbell.ts'
import { Permissions } from './acp.ts'

async function main(): Promise<number> {
  const [prompt, command, ...args] = process.argv.slice(2)
  if (prompt === undefined || command === undefined) throw new Error('say what to do, and the command of an agent')
  const permissions = new Permissions(Deskbell.fromEnv(), Number(process.env.TIMEOUT ?? 600))
  const { DESKBELL_KEY: _, ...env } = process.env // the key is ours, not the agent's
  const agent = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'], detached: true, env }) // detached: Ctrl+C is for us
  const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout) as ReadableStream<Uint8Array>)
  const client = acp
    .client({ name: 'deskbell-example' })
    .onRequest('session/request_permission', ({ params, signal }) => permissions.request(params, signal))
    .onNotification('session/update', ({ params }) => {
      permissions.update(params)
      if (params.update.sessionUpdate === 'agent_message_chunk' && params.update.content.type === 'text') process.stdout.write(params.update.content.text)
    })
  try {
    return await client.connectWith(stream, async (ctx) => {
      await ctx.request('initialize', { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} })
      const { sessionId } = await ctx.request('session/new', { cwd: process.cwd(), mcpServers: [] })
      process.once('SIGINT', () => {
        permissions.cancel(sessionId)
        void ctx.notify('session/cancel', { sessionId })
      })
      permissions.begin(sessionId)
      const { stopReason } = await ctx.request('session/prompt', { sessionId, prompt: [{ type: 'text', text: prompt }] })
      console.log(`\nended: ${stopReason}`)
      return stopReason === 'end_turn' ? 0 : 2
    })
  } finally {
    agent.kill()
  }
}

main().then(
  (code) => (process.exitCode = code),
  (err) => {
    console.error('acp-client:', err instanceof Error ? err.message : err)
    process.exitCode = 3
  },
)
