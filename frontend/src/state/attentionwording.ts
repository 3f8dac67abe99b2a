import { agreement } from '../lib/attention';
import type { UnchangedQuestion } from '../lib/wire';
import { m } from '../paraglide/messages';
import { language } from './locale.svelte';

const format = (ms: number, style: Intl.NumberFormatOptions): string => new Intl.NumberFormat(language.locale, { maximumFractionDigits: ms < 600_000 ? 1 : 0, ...style }).format(ms / 60_000);

/** A time in minutes: '4.2 min', '171 min'. */
export const minutesWord = (ms: number): string => format(ms, { style: 'unit', unit: 'minute' });
export const minutesFigure = (ms: number): string => format(ms, {});

/** Why no rule is offered. */
export function whyNotWord(why: NonNullable<UnchangedQuestion['why_not']>): string {
  return {
    hard_limit: m.attn_why_hard_limit, high_risk: m.attn_why_high_risk, no_rule: m.attn_why_no_rule, partly: m.attn_why_partly, too_fast: m.attn_why_too_fast, has_rule: m.attn_why_has_rule,
    otherwise: m.attn_why_otherwise, dismissed: m.attn_why_dismissed,
  }[why]();
}

/** What its rule would have decided of the past. */
export function pastWord(question: Pick<UnchangedQuestion, 'answer' | 'replay'>): string {
  const { other } = agreement(question);
  const n = question.replay.covered;
  if (question.answer === 'allowed') return other ? m.attn_allows_denied({ n, other }) : m.attn_allows({ n });
  return other ? m.attn_blocks_allowed({ n, other }) : m.attn_blocks({ n });
}
