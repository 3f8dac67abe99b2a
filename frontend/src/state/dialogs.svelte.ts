import type { Preset, Task } from '../lib/planwire';

export type DialogState =
  | { kind: 'palette' }
  | { kind: 'keys' }
  | { kind: 'snooze'; ids: string[] }
  | { kind: 'reason'; ids: string[] }
  | { kind: 'cancel-plan'; id: string }
  | { kind: 'preset'; tasks: readonly Task[]; save: (preset: Preset) => Promise<string> }
  | { kind: 'discard' }
  | { kind: 'delete-recording'; id: string }
  | { kind: 'replay'; id: string };

/** At most one dialog is open. */
export class Dialogs {
  current = $state<DialogState | null>(null);

  open(dialog: DialogState): void {
    this.current = dialog;
  }

  close(): void {
    this.current = null;
  }
}
