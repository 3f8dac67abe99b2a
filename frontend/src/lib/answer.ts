import type { Task } from './planwire';
import { stepsField, stepsOf } from './steps';
import type { Answer, Attachment, CodeComment, FieldSource, Finding, FocusResult, Json, StepResult } from './wire';

/** A finding in a form: its key tells it from the others for as long as the page stands, wherever it is moved. */
export interface FormFinding extends Finding {
  key: string;
}

/** An answer being written: every part is there, so that fields can be bound to it. */
export interface AnswerForm {
  human_input: string;
  execution_result: string;
  summary: string;
  key_findings: string[];
  fields: Record<string, string>;
  /** Of fields that were picked from a page. */
  field_sources: Record<string, FieldSource>;
  findings: FormFinding[];
  suggestions: FormFinding[];
  /** The summary that the findings were drafted in, '' for none. */
  summary_id: string;
  /** Recordings the agent gets as a whole. Of all others it gets what is in the answer. */
  shared: string[];
  /** Files that were attached to the answer itself. Those of a step are in the step. */
  files: Attachment[];
  /** Of a plan: the tasks it is changed into; null while they are as they came. */
  tasks: Task[] | null;
  task_by_task: boolean;
  /** How the work ended, or what a review came to; '' while nothing is chosen. */
  verdict: NonNullable<Answer['verdict']> | '';
  /** Of work on the desktop: what was noted of its steps. */
  steps: StepResult[];
  /** Of a review: comments on lines, and what was found of each thing to look at. */
  comments: CodeComment[];
  focus: FocusResult[];
  /** Values of the request's response_schema, by their names; null while nothing is filled in. */
  response: Record<string, Json> | null;
  /** Of an approval: arguments that were edited, by their names. */
  args: Record<string, Json>;
}

/** Whether an attachment's id is that of a recording. */
const recording = (id: string): boolean => id.startsWith('rec_');

let keys = 0;
export const withKey = (finding: Finding): FormFinding => ({ ...finding, evidence: [...finding.evidence], key: `k${++keys}` });

export function emptyForm(): AnswerForm {
  return { human_input: '', execution_result: '', summary: '', key_findings: [], fields: {}, field_sources: {}, findings: [], suggestions: [], summary_id: '', shared: [], files: [], tasks: null, task_by_task: false, verdict: '', steps: [], comments: [], focus: [], response: null, args: {} };
}

/** The form of a saved draft. */
export function formOf(answer: Answer | undefined): AnswerForm {
  const findings = (answer?.findings ?? []).map(withKey);
  return {
    human_input: answer?.human_input ?? '',
    execution_result: answer?.execution_result ?? '',
    summary: answer?.summary ?? '',
    // Where there are findings, these only say the same again.
    key_findings: findings.length ? [] : [...(answer?.key_findings ?? [])],
    fields: Object.fromEntries(Object.entries(answer?.fields ?? {}).filter(([name]) => name !== stepsField)),
    field_sources: { ...answer?.field_sources },
    findings,
    suggestions: (answer?.suggestions ?? []).map(withKey),
    summary_id: answer?.summary_id ?? '',
    shared: (answer?.attachments ?? []).filter(recording),
    files: (answer?.files ?? []).filter(({ attachment_id: id }) => answer?.attachments?.includes(id)),
    tasks: answer?.plan?.tasks ?? null,
    task_by_task: answer?.plan?.task_by_task ?? false,
    verdict: answer?.verdict ?? '',
    steps: stepsOf(answer),
    comments: [...(answer?.comments ?? [])],
    focus: [...(answer?.focus ?? [])],
    response: (answer?.response as AnswerForm['response'] | undefined) ?? null,
    args: { ...(answer?.args as AnswerForm['args'] | undefined) },
  };
}

/** What is written so far, without what was left empty. Findings that were cut are in it, and say so. */
export function answerOf(form: AnswerForm): Answer {
  const answer: Answer = {};
  if (form.human_input.trim()) answer.human_input = form.human_input;
  if (form.execution_result.trim()) answer.execution_result = form.execution_result;
  if (form.summary.trim()) answer.summary = form.summary;
  const lines = form.key_findings.map((s) => s.trim()).filter(Boolean);
  if (lines.length) answer.key_findings = lines;
  const fields = Object.entries(form.fields).filter(([, value]) => value.trim());
  if (fields.length) answer.fields = Object.fromEntries(fields);
  if (Object.keys(form.field_sources).length) answer.field_sources = form.field_sources;
  const findings = written(form.findings);
  if (findings.length) answer.findings = findings;
  const suggestions = written(form.suggestions);
  if (suggestions.length) answer.suggestions = suggestions;
  if (form.summary_id) answer.summary_id = form.summary_id;
  if (form.tasks || form.task_by_task) answer.plan = { action: form.tasks ? 'modify' : 'confirm', ...(form.tasks && { tasks: form.tasks }), ...(form.task_by_task && { task_by_task: true }) };
  if (form.files.length) answer.attachments = form.files.map((file) => file.attachment_id);
  if (form.verdict) answer.verdict = form.verdict;
  if (form.steps.length) answer.steps = form.steps;
  if (form.comments.length) answer.comments = form.comments;
  if (form.focus.length) answer.focus = form.focus;
  if (form.response) answer.response = form.response;
  if (Object.keys(form.args).length) answer.args = form.args;
  return answer;
}

const written = (list: FormFinding[]): Finding[] =>
  list.filter(({ text }) => text.trim()).map(({ key: _key, ...finding }) => ({ ...finding, text: finding.text.trim() }));

/** What is saved of a form, so that it is found again just so. */
export function draftOf(form: AnswerForm): Answer {
  const answer = answerOf(form);
  return form.shared.length ? { ...answer, attachments: [...(answer.attachments ?? []), ...form.shared] } : answer;
}

/** An answer as it is sent: a source goes with the value it is of, and not without. `left` are those to be left out. */
export function withSources(answer: Answer, left: (source: FieldSource) => boolean): Answer {
  const { field_sources: sources, ...rest } = answer;
  const kept = Object.entries(sources ?? {}).filter(([name, source]) => answer.fields?.[name] !== undefined && !left(source));
  return kept.length ? { ...rest, field_sources: Object.fromEntries(kept) } : rest;
}

export function isEmpty(form: AnswerForm): boolean {
  return Object.keys(answerOf({ ...form, field_sources: {}, summary_id: '' })).length === 0;
}

export function sameForm(a: AnswerForm, b: AnswerForm): boolean {
  return JSON.stringify(draftOf(a)) === JSON.stringify(draftOf(b));
}
