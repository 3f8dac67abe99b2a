import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';
import { Boxed } from './box.svelte';
import { resultOf } from './result';
import { endSentence, eventSentence, outcomeWord, titleOf } from './words';

/** What a command wrote in a box, to be kept or discarded. */
export const box: KindDefinition = {
  label: m.kind_box,
  icon: 'M12 3l8 4.500v9L12 21l-8-4.500v-9zM4 7.500l8 4.500 8-4.500M12 12v9',
  shade: 'approve',
  answer: 'decision',
  wide: 'beside',
  needsDetails: true,
  page: () => import('./page'),
  card: () => import('./Card.svelte'),
  batch: () => import('../approve/Batch.svelte'),
  alone: m.box_alone,
  end: () => import('./End.svelte'),
  title: titleOf,
  place: (op) => resultOf(op)?.project.split('/').pop() ?? '',
  runs: (op) => resultOf(op)?.command ?? '',
  outcome: outcomeWord,
  gist: (op) => op.result?.human_input || op.ended?.reason || (resultOf(op)?.command ?? ''),
  ending: endSentence,
  event: eventSentence,
  controller: (opened) => new Boxed(opened),
  // What is kept is chosen where it is seen.
  onCard: (command) => command === 'box-discard' || !command.startsWith('box-'),
};
