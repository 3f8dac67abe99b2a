import type { AttentionReport, UnchangedQuestion } from './wire';

const enoughDays = 14;

/** Whether the history is long enough to say which questions never changed an outcome. */
export const enough = ({ since, counted_at }: Pick<AttentionReport, 'since' | 'counted_at'>): boolean => !!since && Date.parse(counted_at) - Date.parse(since) >= enoughDays * 86_400_000;

/** By how much there are more interruptions than before, of 1; undefined where that cannot be said. */
export const change = ({ interruptions, before }: Pick<AttentionReport, 'interruptions' | 'before'>): number | undefined => (before?.interruptions ? interruptions / before.interruptions - 1 : undefined);

/** The time that the rules that are offered would have spared. */
export const sparable = (questions: readonly Pick<UnchangedQuestion, 'why_not' | 'spent_ms'>[]): number => questions.reduce((sum, one) => sum + (one.why_not ? 0 : one.spent_ms), 0);

/** What a rule decides of the past: as people did, and as they did not. */
export function agreement({ answer, replay }: Pick<UnchangedQuestion, 'answer' | 'replay'>): { same: number; other: number } {
  return answer === 'allowed' ? { same: replay.allowed, other: replay.denied } : { same: replay.denied, other: replay.allowed };
}
