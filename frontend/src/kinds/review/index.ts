import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';
import { completed, Review } from './review.svelte';
import { verdictWord } from './words';

/** Code to be read and judged. */
export const review: KindDefinition = {
  label: m.kind_review,
  icon: 'M6 3h8l4 4v14H6zM9.5 11h5M12 8.500v5M9.5 17h5',
  shade: 'words',
  answer: 'words',
  wide: 'page',
  page: () => import('./page'),
  card: () => import('../../components/popup/CardHands.svelte'),
  batch: () => import('../../components/operation/BatchAnswers.svelte'),
  controller: (opened) => new Review(opened),
  outcome: (op) => verdictWord(op.result?.verdict),
  complete: (_, answer) => completed(answer),
};
