import { m } from '../paraglide/messages';

/** How work by hand ends: the verdict of an answer, its key, its mark, and its words. */
export const verdicts = [
  { value: 'done', key: '1', icon: 'check', label: m.verdict_done, outcome: m.outcome_done, ended: m.ended_done_by },
  { value: 'partly', key: '2', icon: 'half', label: m.verdict_partly, outcome: m.outcome_partly, ended: m.ended_partly_by },
  { value: 'could_not', key: '3', icon: 'x', label: m.verdict_could_not, outcome: m.outcome_could_not, ended: m.ended_could_not_by },
] as const;

export type WorkVerdict = (typeof verdicts)[number]['value'];

/** The one with this name; undefined for what is none of work by hand. */
export const verdictOf = (value: string | undefined) => verdicts.find((one) => one.value === value);
