import { shell, type Repaired } from '../backend/shell';
import { sentence } from './sentences.svelte';
import { appWindow } from './window.svelte';

/** The repair of a database that cannot be opened. */
export class Repairing {
  /** What a repair would do; undefined until it is known. */
  plan = $state.raw<Repaired>();
  busy = $state(false);
  /** Why the last thing asked for was not done. */
  trouble = $state('');

  async look(): Promise<void> {
    this.plan = await shell.repair(false);
  }

  /** Repairs it. The window continues its start then. */
  async repair(): Promise<void> {
    this.busy = true;
    const { failed } = await shell.repair(true);
    this.busy = false;
    this.trouble = failed ? sentence(failed) : '';
    if (!failed) appWindow.broken = null;
  }

  openFolder(): void {
    shell.openFolder().catch((error: unknown) => (this.trouble = String(error)));
  }

  quit(): void {
    void shell.quit();
  }
}
