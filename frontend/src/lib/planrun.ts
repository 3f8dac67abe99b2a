import type { PlanRun, PlanStatus } from './planwire';
import type { Operation } from './wire';

/** Where a plan stands, as its server has it. A plan that its agent withdrew, or an operator declined, is cancelled. */
export function statusOf(op: Operation): PlanStatus {
  if (op.state === 'cancelled' || op.state === 'declined') return op.overdue && op.ended?.by.role === 'system' ? 'timeout' : 'cancelled';
  if (op.state !== 'completed') return 'pending';
  const action = op.result?.plan?.action ?? (op.result?.decision === 'approve' ? 'confirm' : 'cancel');
  return action === 'confirm' ? 'confirmed' : action === 'modify' ? 'modified' : 'cancelled';
}

/** The place of a task in a run, from 1; 0 where it has none. */
export function placeOf(run: PlanRun | undefined, task: string): number {
  return (run?.tasks.findIndex(({ id }) => id === task) ?? -1) + 1;
}
