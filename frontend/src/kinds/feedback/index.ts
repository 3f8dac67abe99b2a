import { field } from '../../lib/details';
import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';
import { Choosing } from './choosing.svelte';

/** A question, with or without options to choose from. */
export const feedback: KindDefinition = {
  label: m.kind_feedback,
  icon: 'M4 5h16v11h-9l-4.5 4v-4H4z',
  shade: 'words',
  answer: 'words',
  page: () => import('./page'),
  card: () => import('./Card.svelte'),
  cardSends: true,
  batch: () => import('../../components/operation/BatchAnswers.svelte'),
  controller: (opened) => new Choosing(opened),
  // Choices are pressed in the view; a ranking has more to it.
  asks: (op) => (String(field(op, 'choose')).toLowerCase() === 'rank' ? [] : ['choice']),
};
