import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';
import { Performing } from './performing.svelte';

/** A run of a procedure that an operator taught. */
export const procedure: KindDefinition = {
  label: m.kind_procedure,
  icon: 'M5.500 4a2 2 0 1 0 0 4a2 2 0 1 0 0-4M5.500 16a2 2 0 1 0 0 4a2 2 0 1 0 0-4M5.500 8v8M11 6h9M11 12h9M11 18h9',
  shade: 'hands',
  answer: 'decision',
  wide: 'page',
  recordsItself: true,
  page: () => import('./page'),
  card: () => import('./Card.svelte'),
  batch: () => import('../../components/operation/BatchAnswers.svelte'),
  alone: m.proc_alone,
  controller: (opened) => new Performing(opened),
  // A risky run is started where all of it is seen.
  onCard: (command, _op, opened) => command !== 'proc-start' || opened.as(Performing).low,
};
