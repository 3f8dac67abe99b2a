// The official TypeScript clients, each behind the same few methods.
import { Client as Client1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as Stdio1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as HTTP1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { Client as Client2, StreamableHTTPClientTransport as HTTP2 } from '@modelcontextprotocol/client'
import { StdioClientTransport as Stdio2 } from '@modelcontextprotocol/client/stdio'
import { program, type Bell } from './bell.js'

/** What a tool result holds. */
export interface Reading {
  status: string
  operation_id: string
  attached?: boolean
  question?: string
  human_input?: string
  reason?: string
  message?: string
  next?: string
  kind?: string
  field?: string
  text?: string
  summary?: string
  key_findings?: string[]
  findings?: { text: string; kind: string; evidence?: string[]; by_hand?: boolean }[]
  evidence?: { label: string; kind: string; text?: string; missing?: string }[]
  cut?: string[]
  files?: { attachment_id: string; name: string; media_type: string; size: number; content: string }[]
  /** What comes with the text. */
  more: Content[]
  pending?: { operation_id: string }[]
  unread?: { operation_id: string }[]
  isError: boolean
}

export interface Content {
  type: string
  mimeType?: string
  data?: string
  resource?: { uri: string; mimeType?: string; text?: string; blob?: string }
}

/** What a result of the tool confirm_plan holds. */
export interface Plan {
  status: string
  session_id: string
  operation_id?: string
  attached?: boolean
  auto?: string
  go?: boolean
  why?: string
  message?: string
  next?: string
  question?: string
  user_message?: string
  task?: Task
  run_state?: string
  orders?: { order: string; text?: string; task_id?: string; by?: string }[]
  tasks?: (Task & { state?: string })[]
  changes?: string[]
  kind?: string
  field?: string
  isError: boolean
}

export interface Task {
  id: string
  description: string
  tool_name?: string
  expected_outcome?: string
  args?: Record<string, unknown>
}

export interface Options {
  onprogress?: (p: { progress: number; message?: string }) => void
  resetTimeoutOnProgress?: boolean
  timeout?: number
  signal?: AbortSignal
}

export interface Agent {
  name: string
  protocol: string | undefined
  /** Calls the tool human. */
  human(args: Record<string, unknown>, options?: Options): Promise<Reading>
  /** Calls the tool confirm_plan. */
  plan(args: Record<string, unknown>, options?: Options): Promise<Plan>
  /** Reads a resource of one content. */
  resource(uri: string): Promise<{ mimeType?: string; text?: string; blob?: string } | undefined>
  tools(): Promise<{ name: string; description?: string | undefined }[]>
  close(): Promise<void>
}

export interface Variant {
  label: string
  protocol: string
  transport: 'http' | 'stdio'
  connect(bell: Bell, name: string, key: string): Promise<Agent>
}

const info = { name: 'deskbell-tests', version: '1' }

function read<R extends { isError: boolean }>(result: unknown): R {
  const r = result as { isError?: boolean; content: (Content & { text?: string })[]; structuredContent?: object }
  const text = JSON.parse(r.content[0]?.text ?? '')
  if (JSON.stringify(text) !== JSON.stringify(r.structuredContent)) throw new Error('the text and the structured content differ')
  return { ...text, isError: r.isError === true, more: r.content.slice(1) } as unknown as R
}

function endpoint(bell: Bell, key: string) {
  return [new URL('/mcp', bell.url), { requestInit: { headers: { Authorization: `Bearer ${key}` } } }] as const
}

/** An agent that knows nothing of the server: `deskbell mcp` finds it by its data folder and makes a key. */
export async function byFolder(bell: Bell, name: string): Promise<Agent> {
  const client = new Client2(info, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new Stdio2({ command: program, args: ['mcp', '--agent', name], env: bell.environment(), stderr: 'inherit' }))
  return agentOf(client, name)
}

function agentOf(client: Client2, name: string): Agent {
  return {
    name,
    protocol: client.getNegotiatedProtocolVersion(),
    human: async (args, options) => read<Reading>(await client.callTool({ name: 'human', arguments: args }, options)),
    plan: async (args, options) => read<Plan>(await client.callTool({ name: 'confirm_plan', arguments: args }, options)),
    resource: async (uri) => (await client.readResource({ uri })).contents[0] as { text?: string; blob?: string },
    tools: async () => (await client.listTools()).tools,
    close: () => client.close(),
  }
}

function command(bell: Bell, name: string, key: string) {
  // An address rather than the folder, lest it start a server of its own while a test has none.
  const env = bell.environment({ DESKBELL_URL: bell.url, DESKBELL_KEY: key })
  return { command: program, args: ['mcp', '--agent', name], env, stderr: 'inherit' as const }
}

function first(transport: 'http' | 'stdio'): Variant {
  return {
    label: `sdk 1.32.2 over ${transport}`,
    protocol: '2025-11-25',
    transport,
    async connect(bell, name, key) {
      const client = new Client1(info)
      const t = transport === 'http' ? new HTTP1(...endpoint(bell, key)) : new Stdio1(command(bell, name, key))
      let protocol: string | undefined
      const transportWithVersion = t as { setProtocolVersion?: (v: string) => void }
      const set = transportWithVersion.setProtocolVersion?.bind(t)
      transportWithVersion.setProtocolVersion = (v) => {
        protocol = v
        set?.(v)
      }
      await client.connect(t as Parameters<typeof client.connect>[0])
      return {
        name,
        protocol,
        human: async (args, options) => read<Reading>(await client.callTool({ name: 'human', arguments: args }, undefined, options)),
        plan: async (args, options) => read<Plan>(await client.callTool({ name: 'confirm_plan', arguments: args }, undefined, options)),
        resource: async (uri) => (await client.readResource({ uri })).contents[0] as { text?: string; blob?: string },
        tools: async () => (await client.listTools()).tools,
        close: () => client.close(),
      }
    },
  }
}

function second(transport: 'http' | 'stdio', mode: 'legacy' | 'auto'): Variant {
  return {
    label: `client 2.4.0 (${mode}) over ${transport}`,
    protocol: mode === 'auto' ? '2026-07-28' : '2025-11-25',
    transport,
    async connect(bell, name, key) {
      const client = new Client2(info, { versionNegotiation: { mode } })
      await client.connect(transport === 'http' ? new HTTP2(...endpoint(bell, key)) : new Stdio2(command(bell, name, key)))
      return agentOf(client, name)
    },
  }
}

export const variants: Variant[] = [
  first('http'),
  first('stdio'),
  second('http', 'legacy'),
  second('http', 'auto'),
  second('stdio', 'legacy'),
  second('stdio', 'auto'),
]
