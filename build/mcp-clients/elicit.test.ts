// What servers ask their users, answered by an operator: the official clients behind `deskbell mcp-proxy`.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HTTP1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as Client2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { Bell, free, program, until } from './bell.js'

const everything = resolve('node_modules/@modelcontextprotocol/server-everything/dist/index.js')
const info = { name: 'deskbell-tests', version: '1' }

/** A server of protocol 2026-07-28 with one tool, which asks twice before it answers. */
const modern = `
const form = (name) => ({ method: 'elicitation/create', params: { mode: 'form', message: 'Your ' + name + '?',
  requestedSchema: { type: 'object', properties: { [name]: { type: 'string' } }, required: [name] } } })
const results = {
  'server/discover': () => ({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} }, ttlMs: 0, cacheScope: 'private' }),
  'tools/list': () => ({ ttlMs: 0, cacheScope: 'private', tools: [{ name: 'greet', annotations: { readOnlyHint: true }, inputSchema: { type: 'object' } }] }),
  'tools/call': ({ requestState, inputResponses, _meta }) => {
    if (!_meta['io.modelcontextprotocol/clientCapabilities'].elicitation) throw new Error('nobody can be asked')
    if (!requestState) return { resultType: 'input_required', requestState: 'first', inputRequests: { q: form('name') } }
    if (requestState === 'first') return { resultType: 'input_required', requestState: inputResponses.q.content.name, inputRequests: { q: form('town') } }
    return { content: [{ type: 'text', text: requestState + ' of ' + inputResponses.q.content.town }] }
  },
}
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  let answer
  try {
    answer = results[method] ? { result: { resultType: 'complete', ...results[method](params) } } : { error: { code: -32601, message: 'no ' + method } }
  } catch (err) {
    answer = { error: { code: -32603, message: err.message } }
  }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...answer }) + '\\n')
})`

describe('a server that asks, and a client that cannot be asked', () => {
  let bell: Bell
  let server: ChildProcess
  let url: string
  before(async () => {
    bell = await Bell.start()
    const rules = ['everything', 'modern'].map((server) => `[[rules]]\nid = "${server}"\ndecision = "allow"\ntool = "mcp__${server}__*"\nreason = "a test"\n`)
    await writeFile(join(bell.data, 'gate.toml'), rules.join(''))
    const port = await free()
    url = `http://127.0.0.1:${port}/mcp`
    server = spawn(process.execPath, [everything, 'streamableHttp'], { env: bell.environment({ PORT: String(port) }), stdio: 'ignore' })
    await until('the server answers', async () => fetch(url).then(() => true, () => false), 60_000)
  })
  after(async () => {
    server?.kill()
    await bell?.remove()
  })

  /** Calls the tool that asks, and answers. */
  async function asks(client: Client1, agent: string): Promise<void> {
    const words = 'The MCP server everything asks: Please provide inputs for the following fields:'
    await until('the tool is there', async () => (await client.listTools()).tools.some((t) => t.name === 'trigger-elicitation-request'))
    const call = (): Promise<unknown> => client.callTool({ name: 'trigger-elicitation-request', arguments: {} })
    const first = call()
    await bell.complete((await bell.rung(agent, words)).operation_id, { response: { name: 'Ada', integer: 7, untitledMultipleSelectEnum: ['Piano'] } })
    assert.match(JSON.stringify(await first), /Ada.*7.*Piano/)
    const second = call()
    await bell.decline((await bell.rung(agent, words)).operation_id, 'not today')
    assert.match(JSON.stringify(await second), /declined/)
  }

  for (const [way, args] of [['command', []], ['url', ['--url']], ['listen', ['--url', '--listen']]] as const) {
    test(`sdk 1.32.2, ${way}`, async () => {
      const flags = ['mcp-proxy', '--name', 'everything', '--agent', way, ...(args.length > 0 ? ['--url', url] : ['--', process.execPath, everything])]
      const client = new Client1(info)
      let proxy: ChildProcess | undefined
      if (way === 'listen') {
        proxy = spawn(program, [...flags, '--listen', '127.0.0.1:0'], { env: bell.environment(), stdio: ['ignore', 'pipe', 'ignore'] })
        const out = proxy.stdout!
        await client.connect(new HTTP1(new URL(await new Promise<string>((line) => createInterface(out).once('line', line)))))
      } else {
        await client.connect(new Stdio1({ command: program, args: flags, env: bell.environment(), stderr: 'ignore' }))
      }
      try {
        await asks(client, way)
      } finally {
        await client.close()
        proxy?.kill()
      }
    })
  }

  test('client 2.4.0, in the results of protocol 2026-07-28', async () => {
    const client = new Client2(info, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new Stdio2({
      command: program, args: ['mcp-proxy', '--name', 'modern', '--agent', 'modern', '--', process.execPath, '-e', modern], env: bell.environment(), stderr: 'ignore',
    }))
    try {
      assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28')
      const said = client.callTool({ name: 'greet', arguments: {} })
      for (const [field, value] of [['name', 'Ada'], ['town', 'Turin']] as const) {
        const op = await bell.rung('modern', `The MCP server modern asks: Your ${field}?`)
        await bell.complete(op.operation_id, { response: { [field]: value } })
      }
      assert.match(JSON.stringify(await said), /Ada of Turin/)
    } finally {
      await client.close()
    }
  })

  test('an answer may come later than a client waits, with progress too', async () => {
    const client = new Client2(info, { versionNegotiation: { mode: 'auto' } })
    await client.connect(new Stdio2({
      command: program, args: ['mcp-proxy', '--name', 'modern', '--agent', 'late', '--patience', '2s', '--', process.execPath, '-e', modern], env: bell.environment(), stderr: 'ignore',
    }))
    try {
      const call = () => client.callTool({ name: 'greet', arguments: {} }, { onprogress: () => undefined })
      const op = await (async () => {
        const first = call()
        const asked = await bell.rung('late', 'The MCP server modern asks: Your name?')
        const said = JSON.stringify(await first)
        assert.ok(said.includes(asked.operation_id) && said.includes('same arguments again'), said)
        return asked
      })()
      await bell.complete(op.operation_id, { response: { name: 'Ada' } })
      let next = call()
      await bell.complete((await bell.rung('late', 'The MCP server modern asks: Your town?')).operation_id, { response: { town: 'Turin' } })
      await until('the greeting comes', async () => {
        if (JSON.stringify(await next).includes('Ada of Turin')) return true
        next = call()
        return false
      })
    } finally {
      await client.close()
    }
  })
})
