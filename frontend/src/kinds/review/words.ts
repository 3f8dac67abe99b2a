import type { CodeComment, FocusResult } from '../../lib/wire';
import { m } from '../../paraglide/messages';

export type Severity = NonNullable<CodeComment['severity']>;
export const severities: readonly Severity[] = ['blocker', 'major', 'minor', 'nit', 'question', 'praise'];

const severe: Record<Severity, () => string> = { blocker: m.review_blocker, major: m.review_major, minor: m.review_minor, nit: m.review_nit, question: m.review_question, praise: m.review_praise };
export const severityWord = (severity: Severity): string => severe[severity]();

export const found: readonly FocusResult['verdict'][] = ['good', 'unsure', 'problem'];
const finds: Record<FocusResult['verdict'], () => string> = { good: m.review_good, unsure: m.review_unsure, problem: m.review_problem };
export const foundWord = (verdict: FocusResult['verdict']): string => finds[verdict]();

/** Where a comment is. */
export function whereWord({ file, line, end_line: last, side }: CodeComment): string {
  const at = last && last > line ? m.review_where_range({ file, from: line, to: last }) : m.review_where({ file, n: line });
  return side === 'old' ? m.review_where_old({ where: at }) : at;
}

const ends = { approve: m.outcome_approved, request_changes: m.review_requested, comment: m.review_commented } as const;
/** What a review came to, in a word; '' where its answer is in words alone. */
export const verdictWord = (verdict: string | undefined): string => (verdict && Object.hasOwn(ends, verdict) ? ends[verdict as keyof typeof ends]() : '');
