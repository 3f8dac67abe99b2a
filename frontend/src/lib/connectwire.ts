import type { Said } from './wire';

/** A settings file, and what is or would be written there. */
export interface Change {
  file: string;
  what: ('server' | 'permission' | 'hook' | 'file')[];
  diff: string;
}

export interface Proof {
  at: string;
  ok: boolean;
  text: string;
  text_said?: Said;
  operation_id?: string;
}

export const parts = ['tools', 'hook', 'permission'] as const;

/** A coding agent that may be on this machine. */
export interface Client {
  id: string;
  name: string;
  found: boolean;
  version?: string;
  program?: string;
  state: 'absent' | 'ready' | 'connected' | 'changed' | 'trouble';
  problem?: string;
  problem_said?: Said;
  next?: string;
  next_said?: Said;
  gives: Record<(typeof parts)[number], boolean>;
  changes: Change[];
  hash: string;
  undo: boolean;
  key?: string;
  proof?: Proof;
}
