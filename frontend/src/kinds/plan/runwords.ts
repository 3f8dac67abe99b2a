import { m } from '../../paraglide/messages';
import { outcomeOf, placeOf, statusOf, tally, weighty } from './run';
import { statusWord } from './words';
import { roughSpan } from '../../state/wording';
import type { GivenOrder, PlanRun, TaskChange } from '../../lib/planwire';
import type { Operation, TimelineEvent } from '../../lib/wire';

/** What came of a plan, in a word. */
export function planOutcome(op: Operation): string {
  if (op.result?.plan?.auto) return m.planrun_outcome_auto();
  return statusWord(outcomeOf(op));
}

type By = (own: () => string, other: (of: { name: string }) => string) => string;

/** A task of a run, by its place: 'Task 3'. One that was replaced since goes by its id. */
function taskOf(op: Operation, id = ''): string {
  const place = placeOf(op.run, id);
  return place ? m.planrun_task({ n: place }) : m.planrun_task({ n: id });
}

/** One event of a plan as a sentence; '' for those that every kind of operation has. */
export function planEvent(event: TimelineEvent, op: Operation, by: By): string {
  const { answer, progress, order } = event.data;
  switch (event.type) {
    case 'voted':
      if (answer?.plan?.action === 'modify') return by(m.planrun_ev_voted_modify_you, m.planrun_ev_voted_modify);
      return by(m.planrun_ev_voted_you, m.planrun_ev_voted);
    case 'completed':
      if (answer?.plan?.auto) return m.planrun_ev_auto();
      if (answer?.plan?.action === 'cancel' || answer?.decision === 'deny') return by(m.planrun_ev_cancelled_you, m.planrun_ev_cancelled);
      if (answer?.plan?.action !== 'modify') return by(m.planrun_ev_confirmed_you, m.planrun_ev_confirmed);
      return answer.plan.tasks?.length ? by(m.planrun_ev_modified_you, m.planrun_ev_modified) : by(m.planrun_ev_words_you, m.planrun_ev_words);
    case 'cancelled':
      return event.by.role === 'system' ? m.planrun_ev_timeout() : '';
    case 'progressed': {
      if (!progress) return '';
      const of = { task: taskOf(op, progress.task_id), note: progress.note ?? '' };
      if (progress.state === 'running') return m.planrun_ev_running(of);
      if (progress.state === 'done') return of.note ? m.planrun_ev_done_note(of) : m.planrun_ev_done(of);
      if (progress.state === 'failed') return of.note ? m.planrun_ev_failed_note(of) : m.planrun_ev_failed(of);
      return of.note ? m.planrun_ev_left_note(of) : m.planrun_ev_left(of);
    }
    case 'ordered': {
      const task = taskOf(op, order?.task_id);
      switch (order?.order) {
        case 'pause':
          return by(m.planrun_ev_pause_you, m.planrun_ev_pause);
        case 'resume':
          return by(m.planrun_ev_resume_you, m.planrun_ev_resume);
        case 'skip':
          return by(() => m.planrun_ev_skip_you({ task }), ({ name }) => m.planrun_ev_skip({ name, task }));
        case 'stop':
          return by(m.planrun_ev_stop_you, m.planrun_ev_stop);
        case 'change':
          return by(m.planrun_ev_change_you, m.planrun_ev_change);
      }
    }
  }
  return '';
}

/** One change, and who made it: 'You added task 4: test the restore'. A number that is no longer true is said to be one. */
export function changeSentence(change: TaskChange, name: string, mine: boolean): string {
  const of = { name, n: change.to ?? 0, from: change.from ?? 0, what: change.description };
  const [own, other] = {
    added: [m.planrun_added_you, m.planrun_added] as const,
    removed: [m.planrun_removed_you, m.planrun_removed] as const,
    changed: [m.planrun_changed_you, m.planrun_changed] as const,
    moved: [m.planrun_moved_you, m.planrun_moved] as const,
  }[change.change];
  return mine ? own(of) : other(of);
}

const words = (text: string | undefined): string => text?.replace(/\s+/g, ' ').trim() ?? '';

/** How far a run has come: '4 of 6 done, 1 failed'. */
export function tallySentence(run: PlanRun): string {
  const n = tally(run);
  let said = m.planrun_tally({ n: n.done, all: n.all });
  if (n.failed) said = m.planrun_comma({ a: said, b: m.planrun_tally_failed({ n: n.failed }) });
  if (n.skipped) said = m.planrun_comma({ a: said, b: m.planrun_tally_skipped({ n: n.skipped }) });
  return said;
}

/** What came of a plan, in a line: what was changed or said, and how far it came. */
export function planGist(op: Operation, operator: string): string {
  return [answerGist(op, operator), ...(op.run ? [tallySentence(op.run)] : [])].join(' · ');
}

function answerGist(op: Operation, operator: string): string {
  const { result } = op;
  const said = words(result?.human_input);
  const with_ = (text: string): string => (said ? m.planrun_gist_said({ text, words: said }) : text);
  const status = statusOf(op);
  if (status === 'timeout') return m.planrun_gist_timeout();
  if (result?.plan?.auto) return m.planrun_gist_auto();
  if (status === 'confirmed') return with_(m.planrun_gist_confirmed());
  if (status === 'cancelled') return said || words(op.ended?.reason) || m.planrun_gist_cancelled();
  const changes = weighty(result?.plan?.changes ?? []);
  if (!changes[0]) return said ? m.planrun_gist_words({ words: said }) : '';
  const by = result?.by.name ?? '';
  const first = changeSentence(changes[0], by || m.the_system(), by === operator);
  return changes.length > 1 ? m.planrun_more_changes({ text: first, n: changes.length - 1 }) : first;
}

/** How a plan ended, in a sentence. */
export function planEnd(op: Operation, name: string, time: string): string {
  const of = { name, time };
  if (op.result?.plan?.auto) return m.planrun_end_auto(of);
  switch (statusOf(op)) {
    case 'confirmed':
      return m.planrun_end_confirmed(of);
    case 'modified':
      return op.run || op.result?.plan?.tasks?.length ? m.planrun_end_modified(of) : m.planrun_end_words(of);
    case 'timeout':
      return m.planrun_end_timeout(of);
    default:
      return m.planrun_end_cancelled(of);
  }
}

/** How long something takes as far as earlier runs tell: 'about 9 min'. */
export const aboutWord = (seconds: number): string => m.plan_about({ time: roughSpan(seconds) });

/** What an operator ordered, in a sentence. */
export function orderSentence(op: Operation, order: GivenOrder, operator: string): string {
  const event: TimelineEvent = { seq: 0, type: 'ordered', at: order.at, operation_id: op.operation_id, version: 0, by: order.by, data: { order } };
  const mine = order.by.name === operator;
  return planEvent(event, op, (own, other) => (mine ? own() : other({ name: order.by.name ?? '' })));
}
