import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';

/** Work in a terminal. */
export const bash: KindDefinition = {
  label: m.kind_bash,
  icon: 'M5 4h14a2 2 0 0 1 2 2v12a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM7 9l3 3-3 3M13 15h4',
  shade: 'hands',
  answer: 'form',
  work: 'terminal',
  page: () => import('./page'),
  card: () => import('../../components/popup/CardHands.svelte'),
  batch: () => import('../../components/operation/BatchAnswers.svelte'),
  wide: 'beside',
};
