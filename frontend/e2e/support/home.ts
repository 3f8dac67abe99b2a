import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { program, Server } from './server';

/** The settings of somebody who uses these clients, as they stand in their files. */
export const settings: Record<string, string> = {
  '.claude.json': '{\n  "theme": "dark",\n  "mcpServers": {}\n}\n',
  '.claude/settings.json': '{\n\t"model": "opus"\n}\n',
  '.codex/config.toml': '# mine\nmodel = "gpt-5"\n',
  '.gemini/settings.json': '{ "ui": { "theme": "Default" } }',
  '.config/opencode/opencode.json': '{\n  // kept\n  "share": "disabled",\n}\n',
};

/** A home folder where some clients are installed. */
export class Home {
  private constructor(readonly dir: string) {}

  static async make(): Promise<Home> {
    const home = new Home(await mkdtemp(path.join(tmpdir(), 'deskbell-home-')));
    for (const [name, text] of Object.entries(settings)) {
      await mkdir(path.dirname(path.join(home.dir, name)), { recursive: true });
      await writeFile(path.join(home.dir, name), text);
    }
    await mkdir(path.join(home.dir, 'bin'));
    for (const name of ['claude', 'codex', 'gemini', 'opencode']) {
      await writeFile(path.join(home.dir, 'bin', name), '#!/bin/sh\nexit 0\n');
      await chmod(path.join(home.dir, 'bin', name), 0o755);
    }
    return home;
  }

  /** Deskbell, of the person whose home it is; from there, where `installed`, so that its path is not that of a developer's folder. */
  async serve(flags: string[] = [], installed = false): Promise<Server> {
    const bin = path.join(this.dir, 'bin', 'deskbell');
    if (installed) for (const name of ['', '-hook']) await copyFile(`${program}${name}`, `${bin}${name}`);
    const own: Record<string, string> = installed ? { DESKBELL_BIN: bin } : {};
    return Server.start(flags, { ...own, HOME: this.dir, XDG_CONFIG_HOME: '', XDG_DATA_HOME: '', PATH: `${path.join(this.dir, 'bin')}:/usr/bin:/bin` });
  }

  end(): Promise<void> {
    return rm(this.dir, { recursive: true, force: true });
  }
}
