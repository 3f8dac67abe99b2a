import type { Caller } from './server';

/** An agent's client of MCP over HTTP, as far as tests need one: it calls the tool `human`. */
export class McpClient {
  #session = '';
  #id = 0;

  private constructor(private readonly agent: Caller) {}

  static async connect(agent: Caller): Promise<McpClient> {
    const client = new McpClient(agent);
    await client.#send('initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } });
    await client.#send('notifications/initialized', {}, false);
    return client;
  }

  /** What the tool returns as structured content. */
  async human<T>(args: Record<string, unknown>): Promise<T> {
    const { structuredContent, isError } = await this.#send<{ structuredContent: T; isError?: boolean }>('tools/call', { name: 'human', arguments: args });
    if (isError) throw new Error(JSON.stringify(structuredContent));
    return structuredContent;
  }

  async #send<T>(method: string, params: unknown, answered = true): Promise<T> {
    const response = await fetch(`${this.agent.server.url}/mcp`, {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${this.agent.secret}`, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': '2025-11-25', ...(this.#session && { 'Mcp-Session-Id': this.#session }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', method, params, ...(answered && { id: ++this.#id }) }),
    });
    this.#session ||= response.headers.get('Mcp-Session-Id') ?? '';
    const text = await response.text();
    if (!response.ok) throw new Error(`${method}: ${response.status} ${text}`);
    if (!answered) return undefined as T;
    const lines = text.startsWith('{') ? [text] : text.split('\n').filter((line) => line.startsWith('data: {')).map((line) => line.slice(6));
    const reply = lines.map((line) => JSON.parse(line) as { id?: number; result?: T; error?: unknown }).find(({ id }) => id === this.#id);
    if (!reply?.result) throw new Error(`${method}: ${text}`);
    return reply.result;
  }
}
