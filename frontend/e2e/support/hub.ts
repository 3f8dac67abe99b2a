import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { program, type Server } from './server';

/** The server of a team, in a data folder of its own. */
export class Hub {
  private constructor(
    private readonly dir: string,
    private readonly child: ChildProcess,
  ) {}

  static async start(team: string): Promise<Hub> {
    const dir = await mkdtemp(path.join(tmpdir(), 'deskbell-hub-'));
    const child = spawn(program, ['hub', '--data', dir, '--team', team, '--addr', '127.0.0.1:0', '--web', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => line.includes('is ready') && resolve());
      child.once('exit', (code) => reject(new Error(`deskbell hub ended with ${code}`)));
    });
    return new Hub(dir, child);
  }

  /** Makes a server the desk of a member, and starts it again. */
  async join(server: Server, member: string, role: string): Promise<void> {
    const { stdout } = await promisify(execFile)(program, ['hub', 'invite', member, '--role', role, '--data', this.dir]);
    await server.join(stdout.trim());
  }

  /** Nothing of it answers until it continues. */
  pause(): void {
    this.child.kill('SIGSTOP');
  }

  continue(): void {
    this.child.kill('SIGCONT');
  }

  async end(): Promise<void> {
    this.continue();
    const ended = new Promise((resolve) => this.child.once('exit', resolve));
    this.child.kill('SIGTERM');
    await ended;
    await rm(this.dir, { recursive: true, force: true });
  }
}
