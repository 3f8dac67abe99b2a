import type { RunOfProcedure, RunOrder } from '../../lib/wire';

export type Do = RunOrder['do'];
type Run = Pick<RunOfProcedure, 'state' | 'stop' | 'steps'>;

/** Whether a run has ended. */
export const over = ({ state }: Pick<Run, 'state'>): boolean => state === 'good' || state === 'given_up' || state === 'broke_off';

/** What can be ordered while a run is so, in the order of its buttons. */
export function orders({ state, stop }: Run): readonly Do[] {
  switch (state) {
    case 'running':
      return ['pause', 'take', 'end'];
    case 'paused':
      return ['continue', 'step', 'take', 'end'];
    case 'stopped':
      // An effect is outside of the page: there is no step that could be done alone.
      if (stop?.differs) return ['continue', 'accept', 'done', 'skip', 'take', 'end'];
      return stop?.step ? ['continue', 'done', 'skip', 'take', 'end'] : ['continue', 'done', 'take', 'end'];
    case 'taken':
      return ['continue', 'done', 'end'];
    default:
      return [];
  }
}

/** What the server is sent for an order. To continue at a step that may have been done is to say that it was not: its button does. */
export const orderOf = ({ stop }: Pick<Run, 'stop'>, what: Do): RunOrder => (what === 'continue' && stop?.unsure ? { do: what, not_done: true } : { do: what });

/** The step that is under way or comes next, from 0; the number of steps once all are done. */
export function at({ steps }: Pick<Run, 'steps'>): number {
  const i = steps.findIndex(({ state }) => state === 'later' || state === 'doing' || state === 'checking');
  return i < 0 ? steps.length : i;
}

/** How many steps are done, by the run or by hand. */
export const doneOf = ({ steps }: Pick<Run, 'steps'>): number => steps.filter(({ state }) => state === 'done' || state === 'by_hand' || state === 'skipped').length;
