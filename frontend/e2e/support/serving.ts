import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

export interface Ready {
  url: string;
  console: string;
  code: string;
}

/**
 * Starts `deskbell serve` with more arguments, and resolves when it is ready. Its one-time code comes over a pipe of its own,
 * as the program prints codes to a person's terminal only. Operators' calls may come from agents' processes: a test is both.
 */
export async function serving(program: string, args: string[], env: NodeJS.ProcessEnv): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = spawn(program, ['serve', '--json', '--code-fd', '3', '--set', 'server.check_callers=false', ...args], { stdio: ['ignore', 'ignore', 'pipe', 'pipe'], env });
  let complaint = '';
  child.stderr?.on('data', (text: Buffer) => (complaint += text.toString()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdio[3] as Readable).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`deskbell serve ended with ${code}: ${complaint}`)));
  });
  return { child, ready: JSON.parse(line) as Ready };
}
