import type { Finding, Ref, Summary } from './wire';

/** A finding for tests, resting on one action unless told otherwise. */
export function finding(id: string, text: string, evidence: Ref[] = [{ kind: 'action', recording_id: 'rec_1', id: 'a1' }]): Finding {
  return { finding_id: id, kind: 'value', text, evidence, confidence: 1 };
}

/** A draft for tests: done, with three findings and a suggestion, unless told otherwise. */
export function draft(of: Partial<Summary> = {}): Summary {
  return {
    summary_id: 'sum_1', operation_id: 'op_1', recordings: ['rec_1'], summarizer: 'browser', language: 'en', state: 'done', started_at: '2026-01-02T10:00:00Z', dropped: [],
    report: {
      line: 'Read the plan.', text: '',
      findings: [finding('f1', 'Plan is Scale 2026'), finding('f2', '8,412,903 used'), finding('f3', 'Renewal date: not found')],
      suggestions: [finding('s1', 'Ask the owner of the account')],
    },
    ...of,
  };
}
