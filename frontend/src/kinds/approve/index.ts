import { dangerous } from '../../lib/life';
import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';
import { Deciding } from './deciding.svelte';

/** An action that runs once an operator approves it. */
export const approve: KindDefinition = {
  label: m.kind_approve,
  icon: 'M9.5 13.5c0-3-1.5-4-1.5-6.5a4 4 0 0 1 8 0c0 2.5-1.5 3.5-1.5 6.500M5 17.500a4 4 0 0 1 4-4h6a4 4 0 0 1 4 4zM5 21h14',
  shade: 'approve',
  answer: 'decision',
  page: () => import('./page'),
  card: () => import('./Card.svelte'),
  batch: () => import('./Batch.svelte'),
  // Of a recording that a member of the team asks for, nothing but its name is on the card and in lists.
  place: (op) => (op.to ? '' : (op.session_id ?? '')),
  alone: (op) => (op.to ? m.batch_alone_recording() : dangerous(op) ? m.batch_alone_risk() : op.attachments?.length ? m.batch_alone_files() : Object.keys(op.draft?.args ?? {}).length ? m.batch_alone_edits() : ''),
  controller: (opened) => new Deciding(opened),
  // What came with it is part of what is approved, and is shown on its page.
  onCard: (command, op) => command !== 'approve' || !(op.to || op.attachments?.length),
};
