import type { KindDefinition } from './kind';

/** A kind this page does not know: all of its details are drawn by what they are, and it is answered in the form. */
export const newer = (name: string): KindDefinition => ({
  label: () => name,
  icon: 'M12 3a9 9 0 1 0 0 18a9 9 0 1 0 0-18M8 12v.1M12 12v.1M16 12v.1',
  shade: 'hands',
  answer: 'form',
  page: () => import('./page'),
  card: () => import('../components/popup/CardHands.svelte'),
  batch: () => import('../components/operation/BatchAnswers.svelte'),
});
