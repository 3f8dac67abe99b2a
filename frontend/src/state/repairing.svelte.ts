import { shell, type Repaired } from '../backend/shell';
import { sentence } from './sentences.svelte';
import { appWindow } from './window.svelte';

/** The repair of a database that cannot be opened, or a backup in its place. */
export class Repairing {
  /** What a repair would do; undefined until it is known. */
  plan = $state.raw<Repaired>();
  /** What is under way: 'repair', or the id of the backup that is restored. */
  busy = $state('');
  /** Why the last thing asked for was not done. */
  trouble = $state('');

  async look(): Promise<void> {
    this.plan = await shell.plan();
  }

  /** Repairs it, or restores a backup. The window continues its start then. */
  async repair(backup = ''): Promise<void> {
    this.busy = backup || 'repair';
    const { failed } = await shell.repair(backup);
    this.busy = '';
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
