// The tool permission, called as a client's permission-prompt option calls it.
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { Client as Client2, StreamableHTTPClientTransport as HTTP2 } from '@modelcontextprotocol/client'
import { Bell, program } from './bell.js'

const info = { name: 'deskbell-tests', version: '1' }

describe('the tool permission', { concurrency: true }, () => {
  let bell: Bell
  before(async () => {
    bell = await Bell.start()
  })
  after(() => bell?.remove())

  for (const way of ['stdio', 'http'] as const) {
    test(`over ${way}: a harmless call is allowed, a dangerous one rings, is refused, and then allowed`, async () => {
      const agent = `permission-${way}`
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      const client: any = way === 'stdio' ? new Client1(info) : new Client2(info, { versionNegotiation: { mode: 'auto' } })
      const key = await bell.key(agent)
      await client.connect(
        way === 'stdio'
          ? new Stdio1({ command: program, args: ['mcp', '--agent', agent, '--permission'], env: bell.environment({ DESKBELL_KEY: key }), stderr: 'inherit' })
          : new HTTP2(new URL('/mcp?permission', bell.url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }),
      )
      const permission = async (id: string, command: string) => {
        const result = await client.callTool({ name: 'permission', arguments: { tool_name: 'Bash', input: { command }, tool_use_id: id } })
        assert.equal(result.content.length, 1)
        return JSON.parse(result.content[0].text)
      }
      try {
        assert.ok((await client.listTools()).tools.some((t: { name: string }) => t.name === 'permission'))
        assert.deepEqual(await permission('1', 'git status'), { behavior: 'allow', updatedInput: { command: 'git status' } })
        const command = 'git push --force origin main'
        const first = permission('2', command)
        await bell.decide(await bell.question(agent, 'Bash'), 'deny', { reason: 'the others work on it' })
        const refused = await first
        assert.equal(refused.behavior, 'deny')
        assert.match(refused.message, /the others work on it/)
        const second = permission('3', command)
        await bell.decide(await bell.question(agent, 'Bash'), 'allow')
        assert.deepEqual(await second, { behavior: 'allow', updatedInput: { command } })
      } finally {
        await client.close()
      }
    })
  }
})
