import { gist } from '../../lib/verdict';
import type { Changed, ChoiceAction, Operation, TimelineEvent, Verdict } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import { filesWord } from '../../state/effectwording';
import { sizeWord } from '../../state/recwording';
import type { By } from '../kind';
import { timeOfDay } from '../../lib/time';
import { changedName } from './changed';
import { risky } from './question';

/** The words of the answers to a call. Each is a message of its own, in the language of the page. */

export function choiceWord(action: ChoiceAction): string {
  return { deny: m.perm_deny, instead: m.perm_instead, backup: m.perm_backup, difference: m.perm_difference, box: m.perm_box, change: m.perm_change, allow: m.perm_allow }[action]();
}

/** The button that answers, by what it would answer. */
export function answerWord(action: ChoiceAction, rule: boolean): string {
  if (rule && action === 'deny') return m.perm_answer_deny_rule();
  if (rule && action === 'allow') return m.perm_answer_allow_rule();
  return { deny: m.perm_answer_deny, instead: m.perm_answer_instead, backup: m.perm_answer_backup, difference: m.perm_answer_difference, box: m.perm_answer_box, change: m.perm_answer_change, allow: m.perm_answer_allow }[action]();
}

/** What picking a choice does, in a sentence. */
export function choiceSentence(action: ChoiceAction, verdict: Verdict, agent: string): string {
  switch (action) {
    case 'deny':
      return m.perm_deny_does({ agent });
    case 'instead':
      return m.perm_instead_does({ agent });
    case 'backup': {
      const all = gist(verdict.effects);
      return all.files > 0 ? m.perm_backup_does_files({ files: filesWord(all.files), size: sizeWord(all.bytes) }) : m.perm_backup_does();
    }
    case 'difference':
      return m.perm_difference_does();
    case 'box':
      return m.perm_box_does();
    case 'change':
      return m.perm_change_does();
    case 'allow':
      return risky(action, verdict)
        ? m.perm_allow_risky({ reach: { irreversible: m.perm_reach_irreversible, costly: m.perm_reach_costly, reversible: m.perm_reach_reversible }[verdict.reversibility]() })
        : m.perm_allow_does();
  }
}

/** What ended a question, in a sentence. */
export function endSentence(op: Operation, name: string, time: string): string {
  const { result } = op;
  if (!result) return op.ended?.by.role === 'system' ? m.perm_ended_expired({ time }) : m.perm_ended_withdrawn({ name, time });
  if (result.decision === 'approve') return (result.choice === 'backup' ? m.perm_ended_backup : result.choice === 'box' ? m.perm_ended_box : result.choice === 'change' ? m.perm_ended_change : m.perm_ended_allowed)({ name, time });
  return (result.choice === 'instead' ? m.perm_ended_instead : m.perm_ended_refused)({ name, time });
}

/** What came of a question, in a word; '' as for every kind. */
export function outcomeWord(op: Operation): string {
  if (op.state === 'completed') return op.result?.decision === 'approve' ? m.perm_outcome_allowed() : m.perm_outcome_refused();
  return op.state === 'cancelled' && op.ended?.by.role === 'system' ? m.perm_outcome_expired() : '';
}

/** One event of a question, as a sentence; '' for those that every kind has. */
export function eventSentence(event: TimelineEvent, _op: Operation, by: By): string {
  if (event.type === 'completed') return event.data.answer?.decision === 'approve' ? by(m.perm_ev_allowed_you, m.perm_ev_allowed) : by(m.perm_ev_refused_you, m.perm_ev_refused);
  return event.type === 'cancelled' && event.by.role === 'system' ? m.perm_ev_expired() : '';
}

/** What a question is called that is asked because something changed. */
export function changedTitle(changed: Changed): string {
  const name = changedName(changed);
  if (!name) return m.perm_changed_judged();
  return { question: m.perm_changed_question, verdict: m.perm_changed_verdict, rule: m.perm_changed_rule, tool: m.perm_changed_tool }[changed.since]({ name });
}

/** What that means, in a sentence. */
export function changedNote(changed: Changed): string {
  const time = timeOfDay(changed.at);
  return { question: m.perm_changed_note_question, verdict: m.perm_changed_note_verdict, rule: m.perm_changed_note_rule, tool: m.perm_changed_note_tool }[changed.since]({ time });
}
