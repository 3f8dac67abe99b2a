import { m } from '../paraglide/messages';
import { placeOf, statusOf } from '../lib/planrun';
import type { Operation, TimelineEvent } from '../lib/wire';

/** What came of a plan, in a word. */
export function planOutcome(op: Operation): string {
  if (op.result?.plan?.auto) return m.planrun_outcome_auto();
  switch (statusOf(op)) {
    case 'confirmed':
      return m.planrun_outcome_confirmed();
    case 'modified':
      return m.planrun_outcome_modified();
    case 'timeout':
      return m.outcome_timeout();
    default:
      return m.outcome_cancelled();
  }
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
      return answer.plan.modified_tasks?.length ? by(m.planrun_ev_modified_you, m.planrun_ev_modified) : by(m.planrun_ev_words_you, m.planrun_ev_words);
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
