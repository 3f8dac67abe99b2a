import { m } from '../../paraglide/messages';
import { dangerous } from '../../lib/life';
import { effectsSentence } from '../../state/effectwording';
import type { KindDefinition } from '../kind';
import { Permission } from './permission.svelte';
import { commandOf, edited, mild, questionOf } from './question';
import { changedTitle, endSentence, eventSentence, outcomeWord } from './words';

/** A tool call that the gatekeeper asks about. */
export const permission: KindDefinition = {
  label: m.kind_permission,
  icon: 'M8 10.500a4.500 4.500 0 1 0 0 9a4.500 4.500 0 1 0 0-9M11.200 11.800l8.300-8.300M16 7l3 3',
  shade: 'approve',
  answer: 'decision',
  page: () => import('./page'),
  card: () => import('./Card.svelte'),
  batch: () => import('./Batch.svelte'),
  alone: (op) => (mild(op) ? '' : edited(op) ? m.batch_alone_edits() : dangerous(op) ? m.batch_alone_risk() : m.batch_alone_read()),
  end: () => import('./End.svelte'),
  task: (op) => questionOf(op)?.task,
  wide: 'beside',
  needsDetails: true,
  // A question's context is what stands in its head.
  showsContext: () => false,
  title(op) {
    const question = questionOf(op);
    if (question?.changed) return changedTitle(question.changed);
    const effects = question?.verdict.effects;
    return effects?.length ? effectsSentence(effects) : '';
  },
  place: (op) => questionOf(op)?.project?.name ?? '',
  runs(op) {
    const question = questionOf(op);
    return question ? (commandOf(question)?.text ?? JSON.stringify(question.args ?? {})) : '';
  },
  outcome: outcomeWord,
  // That it was allowed or denied stands beside it; where nobody said why, the call says most.
  gist(op) {
    const question = questionOf(op);
    return op.result?.human_input || op.ended?.reason || (question ? (commandOf(question)?.text ?? question.tool) : '');
  },
  ending: endSentence,
  sent: m.perm_sent_allowed,
  event: eventSentence,
  controller: (opened) => new Permission(opened),
  // A card has no choices to choose from.
  onCard: (command) => command !== 'answer' && !command.startsWith('choose-'),
};
