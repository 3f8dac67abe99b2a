import { outcomeWord } from '../kinds/words';
import { asker, foreseen } from '../lib/life';
import type { Operation } from '../lib/wire';
import { m } from '../paraglide/messages';

/** What became of answers that were sent together, in a sentence. */
export function sentWords(ops: Operation[]): string {
  const [op] = ops;
  if (!op) return '';
  const canceled = ops.find(({ state }) => state === 'cancelled');
  if (canceled) return (canceled.draft ? m.toast_canceled : m.toast_canceled_unsent)({ agent: asker(canceled) });
  const leaving = ops.some((one) => one.leaving);
  if (ops.length > 1) {
    const declined = ops.every((one) => foreseen(one).state === 'declined');
    const [now, later] = declined ? [m.toast_many_declined, m.toast_many_declined_leaving] : [m.toast_many, m.toast_many_leaving];
    return (leaving ? later : now)({ n: ops.length });
  }
  const word = outcomeWord(op); // in a sentence of its own it begins with a capital
  const words = { outcome: word.charAt(0).toLocaleUpperCase() + word.slice(1), agent: asker(op) };
  if (leaving) return m.toast_leaving(words);
  return !op.to && foreseen(op).result?.decision === 'approve' ? m.toast_continues(words) : m.toast_sent(words);
}
