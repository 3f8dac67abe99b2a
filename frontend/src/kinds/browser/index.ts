import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';
import { Picking } from './picking.svelte';

/** Work on web pages, from which fields are filled. */
export const browser: KindDefinition = {
  label: m.kind_browser,
  icon: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M3 12h18M12 3c3 2.6 3.8 5.6 3.8 9S15 18.4 12 21c-3-2.6-3.8-5.6-3.8-9S9 5.6 12 3z',
  shade: 'hands',
  answer: 'form',
  work: 'browser',
  page: () => import('./page'),
  card: () => import('../../components/popup/CardHands.svelte'),
  batch: () => import('../../components/operation/BatchAnswers.svelte'),
  controller: (opened) => new Picking(opened),
  offering: () => import('../procedure/offering.svelte'),
};
