/** How each client is connected: the texts of docs/agents.md, with this server's address filled in. */
export type Client = 'claude-code' | 'codex' | 'gemini-cli' | 'cursor' | 'vscode' | 'opencode' | 'langchain' | 'curl';

export interface Snippet {
  client: Client;
  name: string;
  /** Where it goes: a file's path, or '' for a command to run in a terminal. */
  file: string;
  text: string;
  /** It needs a key in DESKBELL_KEY; the others get one of their own. */
  key: boolean;
}

const pretty = (value: unknown): string => JSON.stringify(value, null, 2);
/** With the limit of five minutes that these texts give a client, it is told of one a little shorter. */
const args = (agent: string, waits = false): string[] => ['mcp', '--agent', agent, ...(waits ? ['--patience', '4m30s'] : [])];

/** As a POSIX shell and a person read it: quoted only where it must be. */
const quoted = (path: string): string => (/^[\w./:+-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`);

/** For a server at an address, and a program at a path. */
export function snippets(url: string, command: string): Snippet[] {
  return [
    { client: 'claude-code', name: 'Claude Code', file: '', key: false, text: `claude mcp add --scope user deskbell -- ${quoted(command)} mcp --agent claude-code` },
    {
      client: 'codex', name: 'Codex', file: '~/.codex/config.toml', key: false,
      text: `[mcp_servers.deskbell]\ncommand = ${JSON.stringify(command)}\nargs = ${JSON.stringify(args('codex', true)).replaceAll(',', ', ')}\ntool_timeout_sec = 300`,
    },
    {
      client: 'gemini-cli', name: 'Gemini CLI', file: '~/.gemini/settings.json', key: false,
      text: pretty({ mcpServers: { deskbell: { command, args: args('gemini-cli', true), timeout: 300_000 } } }),
    },
    {
      client: 'cursor', name: 'Cursor', file: '~/.cursor/mcp.json', key: false,
      text: pretty({ mcpServers: { deskbell: { command, args: args('cursor') } } }),
    },
    {
      client: 'vscode', name: 'VS Code', file: '.vscode/mcp.json', key: false,
      text: pretty({ servers: { deskbell: { type: 'stdio', command, args: args('vscode') } } }),
    },
    {
      client: 'opencode', name: 'opencode', file: '~/.config/opencode/opencode.json', key: false,
      text: pretty({ mcp: { deskbell: { type: 'local', command: [command, ...args('opencode', true)], enabled: true, timeout: 300_000 } } }),
    },
    {
      client: 'langchain', name: 'LangChain', file: 'agent.py', key: true,
      text: [
        'import os',
        'from langchain_mcp_adapters.client import MultiServerMCPClient',
        '',
        'client = MultiServerMCPClient({',
        '    "deskbell": {',
        '        "transport": "streamable_http",',
        `        "url": "${url}/mcp",`,
        '        "headers": {"Authorization": f"Bearer {os.environ[\'DESKBELL_KEY\']}"},',
        '    }',
        '})',
        'tools = await client.get_tools()',
      ].join('\n'),
    },
    {
      client: 'curl', name: 'curl', file: '', key: true,
      text: [
        `curl -s ${url}/api/human/invoke \\`,
        '  -H "Authorization: Bearer $DESKBELL_KEY" -H "Content-Type: application/json" \\',
        `  -d '{"action_type":"feedback","description":"Which name shall I use?"}'`,
      ].join('\n'),
    },
  ];
}
