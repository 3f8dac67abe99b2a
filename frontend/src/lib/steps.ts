import type { Answer, StepResult } from './wire';

/** The field in which answers without steps have the numbers of those that are done. */
export const stepsField = 'steps_done';

/** What came of the steps, of an answer of any age. */
export function stepsOf(answer: Answer | undefined): StepResult[] {
  if (answer?.steps) return [...answer.steps];
  const done = (answer?.fields?.[stepsField] ?? '').split(',').map(Number).filter((n) => n > 0);
  return [...new Set(done)].sort((a, b) => a - b).map((step) => ({ step, verdict: 'done' }));
}

/** The steps with one changed; one of which nothing is noted any more is left out. */
export function withStep(steps: readonly StepResult[], n: number, change: Partial<StepResult>): StepResult[] {
  const { verdict, note, at, attachments: files } = { ...steps.find(({ step }) => step === n), ...change };
  const rest = steps.filter(({ step }) => step !== n);
  if (!verdict && !note && !files?.length) return rest;
  return [...rest, { step: n, ...(verdict && { verdict }), ...(note && { note }), ...(at && { at }), ...(files?.length && { attachments: files }) }].sort((a, b) => a.step - b.step);
}

/** How many have this verdict. */
export const counted = (steps: readonly StepResult[], verdict: StepResult['verdict']): number => steps.filter((one) => one.verdict === verdict).length;
