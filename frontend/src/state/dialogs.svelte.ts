import type { Component } from 'svelte';

type Load<P extends object> = () => Promise<{ default: Component<P> }>;

export type DialogState =
  | { kind: 'palette' }
  | { kind: 'keys' }
  | { kind: 'snooze'; ids: string[] }
  | { kind: 'reason'; ids: string[] }
  | { kind: 'discard' }
  | { kind: 'delete-recording'; id: string }
  | { kind: 'replay'; id: string }
  | { kind: 'drawn'; load: Load<Record<string, unknown>>; props: Record<string, unknown> };

/** At most one dialog is open. */
export class Dialogs {
  current = $state.raw<DialogState | null>(null);

  open(dialog: DialogState): void {
    this.current = dialog;
  }

  /** Opens a dialog that only its caller knows. `load` is the same function each time: what it once loaded opens at once, and takes the next key. */
  draw<P extends object>(load: Load<P>, props: P): void {
    this.current = { kind: 'drawn', load: load as unknown as Load<Record<string, unknown>>, props: props as Record<string, unknown> };
  }

  close(): void {
    this.current = null;
  }
}
