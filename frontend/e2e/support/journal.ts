import { spawn, type ChildProcess } from 'node:child_process';
import { appendFile, mkdir } from 'node:fs/promises';
import path from 'node:path';

/** The journal of a run of the reference agent, as its process writes it, and the lock that says the process is there. */
export class Journal {
  #process: ChildProcess | undefined;
  #second = 0;

  constructor(
    readonly dir: string,
    readonly id: string,
  ) {}

  async begin(task: string): Promise<void> {
    await mkdir(this.dir, { recursive: true });
    await this.live();
    await this.#write({ kind: 'run', run: { run_id: this.id, agent: 'deskbell-agent', task, cwd: '/srv/api', model: 'small-1', at: this.#now(), limits: { steps: 100 } } });
  }

  /** The process comes: it holds the lock. */
  async live(): Promise<void> {
    const child = spawn('flock', ['--exclusive', path.join(this.dir, `${this.id}.lock`), 'sh', '-c', 'echo held; exec sleep 600'], { stdio: ['ignore', 'pipe', 'ignore'], detached: true });
    this.#process = child;
    await new Promise((resolve) => child.stdout.once('data', resolve));
  }

  /** The process goes, with all that it started. */
  async die(): Promise<void> {
    const child = this.#process;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, 'SIGKILL');
    await gone;
  }

  tell(update: object): Promise<void> {
    const at = this.#now();
    return this.#write({ kind: 'update', at, update: { type: 'status_update', at, session_id: this.id, state: 'executing', content: '', ...update } });
  }

  /** The run is over: for good, or until it is resumed. */
  end(over: boolean): Promise<void> {
    return this.#write({ kind: 'end', result: { status: 'not_done', message: '', over } });
  }

  #write(record: object): Promise<void> {
    return appendFile(path.join(this.dir, `${this.id}.jsonl`), JSON.stringify(record) + '\n');
  }

  #now(): string {
    return new Date(Date.now() - 60_000 + this.#second++ * 1000).toISOString();
  }
}
