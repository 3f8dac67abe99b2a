import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Server } from './server';

const root = path.resolve(import.meta.dirname, '../../..');
const built = new Map<string, string>();

/** A Go program of the repository, built once by each process of tests. */
function program(folder: string): string {
  let file = built.get(folder);
  if (!file) {
    file = path.join(mkdtempSync(path.join(tmpdir(), 'deskbell-go-')), path.basename(folder));
    execFileSync('go', ['build', '-buildvcs=false', '-o', file, folder], { cwd: root });
    built.set(folder, file);
  }
  return file;
}

export interface Step {
  when?: { says?: string; result?: string; first?: string; system?: string; tool?: string };
  times?: number;
  text?: string;
  calls?: { name: string; args: object }[];
  do?: string;
  wait_ms?: number;
  tokens_in?: number;
  tokens_out?: number;
}

/** A server that speaks as a model's does, by a script: see backend/llm/llmtest/serve. */
export class Model {
  private constructor(
    readonly url: string,
    private readonly key: string,
    private readonly name: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(): Promise<Model> {
    const child = spawn(program('./backend/llm/llmtest/serve'), [], { stdio: ['ignore', 'pipe', 'ignore'] });
    const line = await new Promise<string>((resolve) => createInterface(child.stdout).once('line', resolve));
    const { url, key, model } = JSON.parse(line) as { url: string; key: string; model: string };
    return new Model(url, key, model, child);
  }

  async script(steps: Step[]): Promise<void> {
    const response = await fetch(`${this.url}/script`, { method: 'PUT', body: JSON.stringify({ steps }) });
    if (!response.ok) throw new Error(await response.text());
  }

  /** Deskbell with this model, and with the example agents. */
  async serve(flags: string[] = [], env: Record<string, string> = {}): Promise<Server> {
    const server = await Server.start(flags, { DESKBELL_MODEL_PROVIDER: 'openai', DESKBELL_MODEL_NAME: this.name, DESKBELL_MODEL_BASE_URL: `${this.url}/v1`, DESKBELL_MODEL_KEY: this.key, ...env });
    const declared = await readFile(path.join(root, 'docs/examples/agents/agents.toml'), 'utf8');
    await writeFile(path.join(server.dir, 'agents.toml'), declared.replaceAll('./assistants', program('./docs/examples/go/assistants')));
    return server;
  }

  end(): void {
    this.child.kill();
  }
}

/** The model plays the dialogue of the music assistant. */
export const music: Step[] = [
  { when: { result: 'Playing' }, times: -1, text: '正在播放周杰伦的《晴天》。' },
  { when: { says: '播放音乐' }, times: -1, text: '好的，请问想听什么歌？' },
  { when: { says: '周杰伦的' }, times: -1, text: '好的，想听周杰伦的哪首歌？' },
  { when: { says: '晴天' }, times: -1, calls: [{ name: 'mcp__music__play_music', args: { song: '晴天', artist: '周杰伦' } }] },
];
