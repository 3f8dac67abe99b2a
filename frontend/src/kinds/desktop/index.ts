import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';

/** Work in a program on the operator's screen. */
export const desktop: KindDefinition = {
  label: m.kind_desktop,
  icon: 'M5 4h14a2 2 0 0 1 2 2v8a2 2 0 0 1-2 2H5a2 2 0 0 1-2-2V6a2 2 0 0 1 2-2zM12 16v4M8 20h8',
  shade: 'hands',
  answer: 'form',
  work: 'screen',
  page: () => import('./page'),
  card: () => import('../../components/popup/CardHands.svelte'),
  batch: () => import('../../components/operation/BatchAnswers.svelte'),
  offering: () => import('../procedure/offering.svelte'),
};
