// `deskbell mcp-proxy` in front of servers from npm, with the official clients.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { after, before, describe, test } from 'node:test'
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HTTP1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as Client2, StreamableHTTPClientTransport as HTTP2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { Bell, free, program, until } from './bell.js'

const modules = resolve('node_modules/@modelcontextprotocol')
const servers = {
  filesystem: join(modules, 'server-filesystem/dist/index.js'),
  everything: join(modules, 'server-everything/dist/index.js'),
  memory: join(modules, 'server-memory/dist/index.js'),
  thinking: join(modules, 'server-sequential-thinking/dist/index.js'),
}

/** Folders for temporary files count for little; here what is written there is asked about. */
const strict = 'policy = "strict"\n'

const info = { name: 'deskbell-tests', version: '1' }

/** A program, and how it is started. */
interface Command {
  command: string
  args: string[]
  env: Record<string, string>
}

/** A server by itself. */
function direct(bell: Bell, server: string, args: string[], more: Record<string, string> = {}): Command {
  return { command: process.execPath, args: [server, ...args], env: bell.environment(more) }
}

/** The same behind the proxy. */
function proxied(bell: Bell, name: string, c: Command, agent = 'typescript'): Command {
  return { ...c, command: program, args: ['mcp-proxy', '--name', name, '--agent', agent, '--', c.command, ...c.args] }
}

/** A client that sends lines and keeps what comes, byte for byte. */
class Raw {
  readonly lines: string[] = []
  #in: Interface
  #waiting: (() => void)[] = []

  constructor(readonly process: ChildProcess) {
    this.#in = createInterface(process.stdout!)
    this.#in.on('line', (line) => {
      this.lines.push(line)
      for (const go of this.#waiting.splice(0)) go()
    })
  }

  static start(c: Command): Raw {
    return new Raw(spawn(c.command, c.args, { env: c.env, stdio: ['pipe', 'pipe', 'ignore'] }))
  }

  /** Sends a line and waits for so many lines in answer. */
  async say(line: string, answers: number): Promise<void> {
    const want = this.lines.length + answers
    this.process.stdin!.write(line + '\n')
    while (this.lines.length < want) await new Promise<void>((come) => this.#waiting.push(come))
  }

  async end(): Promise<number | null> {
    const ended = new Promise<number | null>((done) => this.process.once('exit', done))
    this.process.stdin!.end()
    return ended
  }
}

const call = (id: number, name: string, args: object, more: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args, ...more } })

/** Lines of a session, with how many come back for each. */
const opening: [string, number][] = [
  [`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}}`, 1],
  [`{"jsonrpc":"2.0","method":"notifications/initialized"}`, 0],
  [`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}`, 1],
  [`{"jsonrpc":"2.0","id":2,"method":"ping"}`, 1],
  [`{"jsonrpc":"2.0","id":3,"method":"nobody/knows","params":{"x":[1,2]}}`, 1],
]

describe('the proxy', { concurrency: true }, () => {
  let bell: Bell
  let dir: string
  before(async () => {
    bell = await Bell.start()
    // What these tests compare runs unasked; what they ask about is not in here.
    const rules = ['everything__*', 'thinking__*', 'memory__read_graph'].map(
      (tool, i) => `[[rules]]\nid = "r${i}"\ndecision = "allow"\ntool = "mcp__${tool}"\nreason = "a test"\n`,
    )
    await writeFile(join(bell.data, 'gate.toml'), strict + rules.join(''))
    dir = await mkdtemp(join(tmpdir(), 'deskbell-proxy-'))
  })
  after(async () => {
    await bell?.remove()
    await rm(dir, { recursive: true, force: true })
  })

  /** Plays lines to a server and to the same behind the proxy, and wants the same bytes. */
  async function same(name: string, c: Command, script: [string, number][]): Promise<string[]> {
    const heard: string[][] = []
    for (const command of [c, proxied(bell, name, c)]) {
      const raw = Raw.start(command)
      for (const [line, answers] of script) await raw.say(line, answers)
      assert.equal(await raw.end(), 0)
      heard.push(raw.lines)
    }
    assert.deepEqual(heard[1], heard[0])
    return heard[0]!
  }

  test('filesystem: the same bytes come back', async () => {
    const large = join(dir, 'large.txt')
    await writeFile(large, 'ä0123456789\n'.repeat(900_000))
    const heard = await same('filesystem', direct(bell, servers.filesystem, [dir]), [
      ...opening,
      [call(4, 'list_allowed_directories', {}), 1],
      [call(5, 'read_text_file', { path: large, head: 3 }), 1],
      [call(6, 'read_text_file', { path: large }), 1],
      [call(7, 'get_file_info', { path: join(dir, 'nothing') }), 1],
    ])
    assert.ok(heard.some((line) => line.length > 10 << 20), 'there is a large result')
  })

  test('everything: the same bytes come back, with progress and errors', async () => {
    const heard = await same('everything', direct(bell, servers.everything, []), [
      // Told that it is initialized, it says a moment later, and so anywhere in between, that there are more tools.
      ...opening.filter(([line]) => !line.includes('notifications/initialized')),
      [call(4, 'echo', { message: '<é\u2028"' }), 1],
      [call(5, 'get-sum', { a: 1, b: 2 }), 1],
      [call(6, 'get-sum', { a: 'one' }), 1],
      [call(7, 'trigger-long-running-operation', { duration: 0.5, steps: 5 }, { _meta: { progressToken: 'p' } }), 6],
      [call(8, 'get-tiny-image', {}), 1],
      [`{"jsonrpc":"2.0","id":9,"method":"prompts/list"}`, 1],
      [`{"jsonrpc":"2.0","id":10,"method":"resources/templates/list"}`, 1],
      [`{"jsonrpc":"2.0","id":11,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"completable-prompt"},"argument":{"name":"department","value":"E"}}}`, 1],
    ])
    assert.equal(heard.filter((line) => line.includes('notifications/progress')).length, 5)
  })

  test('sequential-thinking: the same bytes come back', async () => {
    await same('thinking', direct(bell, servers.thinking, [], { DISABLE_THOUGHT_LOGGING: 'true' }), [
      ...opening,
      [call(4, 'sequentialthinking', { thought: 'one', nextThoughtNeeded: true, thoughtNumber: 1, totalThoughts: 2 }), 1],
      [call(5, 'sequentialthinking', { thought: 'two', nextThoughtNeeded: false, thoughtNumber: 2, totalThoughts: 2 }), 1],
    ])
  })

  for (const which of ['sdk 1.32.2', 'client 2.4.0'] as const) {
    test(`${which}: what the server asks of the client passes, and so does a cancellation`, async () => {
      const seen: string[] = []
      const c = proxied(bell, 'everything', direct(bell, servers.everything, []))
      const cancelled: string[] = []
      const capabilities = { sampling: {}, elicitation: {}, roots: { listChanged: true } }
      const client = which === 'sdk 1.32.2' ? new Client1(info, { capabilities }) : new Client2(info, { capabilities, versionNegotiation: { mode: 'auto' } })
      const transport = which === 'sdk 1.32.2' ? new Stdio1({ ...c, stderr: 'ignore' }) : new Stdio2({ ...c, stderr: 'ignore' })
      const sent = transport.send.bind(transport) as (m: unknown, o?: unknown) => Promise<void>
      transport.send = async (m: unknown, o?: unknown) => {
        if ((m as { method?: string }).method === 'notifications/cancelled') cancelled.push('sent')
        return sent(m, o)
      }
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      const any = client as any
      if (which === 'sdk 1.32.2') {
        const { CreateMessageRequestSchema, ElicitRequestSchema } = await import('@modelcontextprotocol/sdk/types.js')
        any.setRequestHandler(CreateMessageRequestSchema, async () => (seen.push('sampling'), { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } }))
        any.setRequestHandler(ElicitRequestSchema, async () => (seen.push('elicitation'), { action: 'decline' }))
      } else {
        any.setRequestHandler('sampling/createMessage', async () => (seen.push('sampling'), { model: 'm', role: 'assistant', content: { type: 'text', text: 'sampled' } }))
        any.setRequestHandler('elicitation/create', async () => (seen.push('elicitation'), { action: 'decline' }))
      }
      await any.connect(transport)
      const use = (name: string, args: object, options?: object) =>
        which === 'sdk 1.32.2' ? any.callTool({ name, arguments: args }, undefined, options) : any.callTool({ name, arguments: args }, options)
      try {
        // The server registers some of its tools a moment after it was told of the client.
        await until('the tools are there', async () => (await any.listTools()).tools.some((t: { name: string }) => t.name === 'trigger-sampling-request'))
        assert.match(JSON.stringify(await use('trigger-sampling-request', { prompt: 'x', maxTokens: 5 })), /sampled/)
        await use('trigger-elicitation-request', {})
        assert.deepEqual(seen, ['sampling', 'elicitation'])
        const notes: number[] = []
        await use('trigger-long-running-operation', { duration: 1.5, steps: 3 }, { onprogress: (p: { progress: number }) => notes.push(p.progress) })
        assert.ok(notes.length > 0 && notes.every((n, i) => n === i + 1), `${notes}`) // clients forget those that come at once with the result
        const stop = new AbortController()
        const long = use('trigger-long-running-operation', { duration: 30, steps: 3 }, { signal: stop.signal })
        setTimeout(() => stop.abort('enough'), 100)
        await assert.rejects(long)
        assert.deepEqual(cancelled, ['sent'])
        assert.match(JSON.stringify(await use('echo', { message: 'still there' })), /still there/)
      } finally {
        await any.close()
      }
    })

    test(`${which}: an overwriting call rings, is refused, and then runs when it is approved`, async () => {
      const agent = which.replace(/\W+/g, '-')
      const path = join(dir, `${agent}.txt`)
      await writeFile(path, 'the only copy')
      const c = proxied(bell, 'filesystem', direct(bell, servers.filesystem, [dir]), agent)
      // eslint-disable-next-line @typescript-eslint/no-explicit-any
      const client: any = which === 'sdk 1.32.2' ? new Client1(info) : new Client2(info, { versionNegotiation: { mode: 'auto' } })
      await client.connect(which === 'sdk 1.32.2' ? new Stdio1({ ...c, stderr: 'ignore' }) : new Stdio2({ ...c, stderr: 'ignore' }))
      const use = (name: string, args: object, options?: object) =>
        which === 'sdk 1.32.2' ? client.callTool({ name, arguments: args }, undefined, options) : client.callTool({ name, arguments: args }, options)
      try {
        await client.listTools()
        const notes: { progress: number; message?: string }[] = []
        const write = () => use('write_file', { path, content: 'new' }, { onprogress: (p: { progress: number; message?: string }) => notes.push(p), timeout: 60_000 })

        const first = write()
        const asked = await bell.question(agent, 'mcp__filesystem__write_file')
        assert.deepEqual(asked.details?.args, { path, content: 'new' })
        assert.match(asked.details?.about ?? '', /overwrite/)
        await until('the client is told', async () => notes.length > 0)
        assert.match(notes[0]?.message ?? '', /operator is being asked/)
        // Others are served meanwhile.
        assert.match(JSON.stringify(await use('read_text_file', { path })), /the only copy/)
        await bell.decide(asked, 'deny', { reason: 'it is the only copy there is' })
        const refused = await first
        assert.equal(refused.isError, true)
        assert.match(refused.content[0].text, /the only copy there is/)
        assert.equal(await readFile(path, 'utf8'), 'the only copy')

        const second = write()
        const again = await bell.question(agent, 'mcp__filesystem__write_file')
        assert.notEqual(again.operation_id, asked.operation_id)
        assert.equal(await readFile(path, 'utf8'), 'the only copy')
        await bell.decide(again, 'allow')
        assert.notEqual((await second).isError, true)
        assert.equal(await readFile(path, 'utf8'), 'new')

        // A call that the client gives up never runs, whatever is answered.
        const stop = new AbortController()
        const third = use('move_file', { source: path, destination: path + '.away' }, { signal: stop.signal })
        const late = await bell.question(agent, 'mcp__filesystem__move_file')
        stop.abort('enough')
        await assert.rejects(third)
        await use('list_allowed_directories', {})
        await bell.decide(late, 'allow')
        await use('list_allowed_directories', {})
        assert.equal(existsSync(path), true)
      } finally {
        await client.close()
      }
    })
  }

  test('memory: what is deleted is asked about', async () => {
    const file = join(dir, 'memory.jsonl')
    await writeFile(file, JSON.stringify({ type: 'entity', name: 'Ada', entityType: 'person', observations: ['likes tea'] }) + '\n')
    const c = proxied(bell, 'memory', direct(bell, servers.memory, [], { MEMORY_FILE_PATH: file }), 'memory')
    const client = new Client1(info)
    await client.connect(new Stdio1({ ...c, stderr: 'ignore' }))
    try {
      await client.listTools()
      assert.match(JSON.stringify(await client.callTool({ name: 'read_graph', arguments: {} })), /likes tea/)
      const drop = () => client.callTool({ name: 'delete_entities', arguments: { entityNames: ['Ada'] } })
      const first = drop()
      await bell.decide(await bell.question('memory', 'mcp__memory__delete_entities'), 'deny')
      assert.equal((await first).isError, true)
      assert.match(await readFile(file, 'utf8'), /Ada/)
      const second = drop()
      await bell.decide(await bell.question('memory', 'mcp__memory__delete_entities'), 'allow')
      assert.notEqual((await second).isError, true)
      assert.doesNotMatch(await readFile(file, 'utf8'), /Ada/)
    } finally {
      await client.close()
    }
  })

  test('without Deskbell what reads runs, and the rest is refused', async () => {
    const away = await Bell.start()
    await writeFile(join(away.data, 'gate.toml'), strict)
    await away.down()
    const path = join(dir, 'away.txt')
    await writeFile(path, 'kept')
    const client = new Client1(info)
    await client.connect(new Stdio1({ ...proxied(away, 'filesystem', direct(away, servers.filesystem, [dir])), stderr: 'ignore' }))
    try {
      await client.listTools()
      assert.match(JSON.stringify(await client.callTool({ name: 'read_text_file', arguments: { path } })), /kept/)
      const r = await client.callTool({ name: 'write_file', arguments: { path, content: 'lost' } })
      assert.equal(r.isError, true)
      assert.equal(await readFile(path, 'utf8'), 'kept')
    } finally {
      await client.close()
      await away.remove()
    }
  })

  describe('over HTTP', () => {
    let server: ChildProcess
    let url: string
    before(async () => {
      const port = await free()
      url = `http://127.0.0.1:${port}/mcp`
      server = spawn(process.execPath, [servers.everything, 'streamableHttp'], { env: bell.environment({ PORT: String(port) }), stdio: 'ignore' })
      await until('the server answers', async () => fetch(url).then(() => true, () => false), 60_000)
    })
    after(() => {
      server?.kill()
    })

    // eslint-disable-next-line @typescript-eslint/no-explicit-any
    async function session(client: any, transport: unknown): Promise<void> {
      await client.connect(transport)
      try {
        const tools = (await client.listTools()).tools
        assert.ok(tools.length > 5)
        const args = client instanceof Client1 ? [undefined] : []
        assert.match(JSON.stringify(await client.callTool({ name: 'echo', arguments: { message: 'over HTTP' } })), /over HTTP/)
        const notes: number[] = []
        const onprogress = (p: { progress: number }) => notes.push(p.progress)
        await client.callTool({ name: 'trigger-long-running-operation', arguments: { duration: 1.5, steps: 3 } }, ...args, { onprogress })
        assert.ok(notes.length > 0 && notes.every((n, i) => n === i + 1), `${notes}`)
      } finally {
        await client.close()
      }
    }

    test('a client on standard input and output', async () => {
      const c = { command: program, args: ['mcp-proxy', '--name', 'everything', '--url', url], env: bell.environment(), stderr: 'ignore' as const }
      await session(new Client1(info), new Stdio1(c))
      await session(new Client2(info, { versionNegotiation: { mode: 'auto' } }), new Stdio2(c))
    })

    test('clients over HTTP', async () => {
      const proxy = spawn(program, ['mcp-proxy', '--name', 'everything', '--url', url, '--listen', '127.0.0.1:0'], { env: bell.environment(), stdio: ['ignore', 'pipe', 'ignore'] })
      try {
        const at = new URL(await new Promise<string>((line) => createInterface(proxy.stdout).once('line', line)))
        assert.equal(at.pathname, '/mcp')
        await session(new Client1(info), new HTTP1(at))
        await session(new Client2(info, { versionNegotiation: { mode: 'auto' } }), new HTTP2(at))
      } finally {
        proxy.kill()
      }
    })
  })
})
