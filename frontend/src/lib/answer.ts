import type { Answer, FieldSource } from './wire';

/** An answer being written: every part is there, so that fields can be bound to it. */
export interface AnswerForm {
  human_input: string;
  execution_result: string;
  summary: string;
  key_findings: string[];
  fields: Record<string, string>;
  /** Of fields that were picked from a page. */
  field_sources: Record<string, FieldSource>;
}

export function emptyForm(): AnswerForm {
  return { human_input: '', execution_result: '', summary: '', key_findings: [], fields: {}, field_sources: {} };
}

export function formOf(answer: Answer | undefined): AnswerForm {
  return {
    human_input: answer?.human_input ?? '',
    execution_result: answer?.execution_result ?? '',
    summary: answer?.summary ?? '',
    key_findings: [...(answer?.key_findings ?? [])],
    fields: { ...answer?.fields },
    field_sources: { ...answer?.field_sources },
  };
}

/** What goes over the wire: without what was left empty. */
export function answerOf(form: AnswerForm): Answer {
  const answer: Answer = {};
  if (form.human_input.trim()) answer.human_input = form.human_input;
  if (form.execution_result.trim()) answer.execution_result = form.execution_result;
  if (form.summary.trim()) answer.summary = form.summary;
  const findings = form.key_findings.map((s) => s.trim()).filter(Boolean);
  if (findings.length) answer.key_findings = findings;
  const fields = Object.entries(form.fields).filter(([, value]) => value.trim());
  if (fields.length) answer.fields = Object.fromEntries(fields);
  if (Object.keys(form.field_sources).length) answer.field_sources = form.field_sources;
  return answer;
}

/** An answer as it is sent: a source goes with the value it is of, and not without. `left` are those to be left out. */
export function withSources(answer: Answer, left: (source: FieldSource) => boolean): Answer {
  const { field_sources: sources, ...rest } = answer;
  const kept = Object.entries(sources ?? {}).filter(([name, source]) => answer.fields?.[name] !== undefined && !left(source));
  return kept.length ? { ...rest, field_sources: Object.fromEntries(kept) } : rest;
}

export function isEmpty(form: AnswerForm): boolean {
  return Object.keys(answerOf({ ...form, field_sources: {} })).length === 0;
}

export function sameForm(a: AnswerForm, b: AnswerForm): boolean {
  return JSON.stringify(answerOf(a)) === JSON.stringify(answerOf(b));
}
