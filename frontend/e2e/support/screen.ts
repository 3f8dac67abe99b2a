import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** The fonts that tests see, on every machine. */
export const fonts = path.resolve(import.meta.dirname, '../../../build/e2e/desktoptest/fonts.conf');

const firstLine = (stream: Readable, child: ChildProcess, what: string): Promise<string> =>
  new Promise((resolve, reject) => {
    createInterface(stream).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${what} ended with ${code}`)));
  });

/** A desktop of its own, with a person at its pointer and keys: an X server, a window manager, a message bus. */
export class Screen {
  readonly #processes: ChildProcess[] = [];

  private constructor(
    /** A folder that goes with the screen. */
    readonly dir: string,
    /** What a program needs to show itself there. */
    readonly env: Record<string, string>,
  ) {}

  static async start(): Promise<Screen> {
    const screen = new Screen(await mkdtemp(path.join(tmpdir(), 'deskbell-screen-')), {
      XDG_SESSION_TYPE: 'x11',
      WAYLAND_DISPLAY: '',
      XAUTHORITY: '/dev/null',
      HOME: await mkdtemp(path.join(tmpdir(), 'deskbell-home-')),
      XDG_CONFIG_HOME: '', // that is in the home
      XDG_DATA_HOME: '',
      XDG_CACHE_HOME: '',
      LANG: 'C.UTF-8',
      LC_ALL: 'C.UTF-8',
      TZ: 'UTC',
      FONTCONFIG_FILE: fonts,
    });
    const x = screen.#spawn('Xvfb', ['-displayfd', '3', '-screen', '0', '1440x900x24', '-nolisten', 'tcp', '-noreset'], ['ignore', 'ignore', 'ignore', 'pipe']);
    screen.env.DISPLAY = ':' + (await firstLine(x.stdio[3] as Readable, x, 'Xvfb')).trim();
    const bus = screen.#spawn('dbus-daemon', ['--session', '--nofork', '--print-address=1'], ['ignore', 'pipe', 'ignore']);
    screen.env.DBUS_SESSION_BUS_ADDRESS = await firstLine(bus.stdout as Readable, bus, 'dbus-daemon');
    screen.#spawn('openbox', []);
    await screen.until('the window manager', async () => (await screen.#ask('xprop', '-root', '_NET_SUPPORTING_WM_CHECK')).includes('window id'));
    return screen;
  }

  /** Opens a terminal at a fixed place and waits until it has the keyboard. */
  async terminal(title: string): Promise<void> {
    this.#spawn('xterm', ['-geometry', '100x30+100+80', '-title', title, '-e', 'sh']);
    await this.until(title, async () => (await this.#ask('xdotool', 'search', '--onlyvisible', '--name', `^${title}$`)) !== '');
    await this.until(`the keyboard in ${title}`, async () => {
      await this.do('mousemove', '400', '300', 'click', '1');
      return (await this.#ask('xdotool', 'getactivewindow', 'getwindowname')).trim() === title;
    });
  }

  /** Moves, clicks or types, in the words of xdotool. */
  async do(...words: string[]): Promise<void> {
    await run('xdotool', words, { env: { ...process.env, ...this.env } });
  }

  async type(text: string): Promise<void> {
    await this.do('type', '--delay', '20', text);
  }

  async until(what: string, true_: () => Promise<boolean>, seconds = 20): Promise<void> {
    const end = Date.now() + seconds * 1000;
    while (!(await true_())) {
      if (Date.now() > end) throw new Error(`${what} did not come within ${seconds} s`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async end(): Promise<void> {
    for (const child of this.#processes.reverse()) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      const gone = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await gone;
    }
    // The desktop's portal, which the bus started, holds a folder of the home until it has noticed that the bus is gone.
    for (const dir of [this.dir, this.env.HOME ?? '']) await rm(dir, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }

  /** What a program prints; '' when it fails. */
  async #ask(program: string, ...args: string[]): Promise<string> {
    return run(program, args, { env: { ...process.env, ...this.env } }).then(({ stdout }) => stdout, () => '');
  }

  #spawn(program: string, args: string[], stdio: ('ignore' | 'pipe')[] = ['ignore', 'ignore', 'ignore']): ChildProcess {
    const child = spawn(program, args, { env: { ...process.env, ...this.env }, stdio });
    this.#processes.push(child);
    return child;
  }
}
