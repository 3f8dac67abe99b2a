import { withKey, type AnswerForm, type FormFinding } from './answer';
import { clock } from './recording';
import type { Action, Answer, Finding, Gap, Operation, Ref, Report, Summary } from './wire';

/** Findings: what an operator makes of a draft, and what of it leaves this machine. */

export type ListName = 'findings' | 'suggestions';
export const listNames: readonly ListName[] = ['findings', 'suggestions'];

export const isRecorded = (ref: Ref): boolean => ref.kind === 'action' || ref.kind === 'picture' || ref.kind === 'command';

export const sameRef = (a: Ref, b: Ref): boolean => a.kind === b.kind && a.id === b.id && (a.recording_id ?? '') === (b.recording_id ?? '');

/** The pieces of evidence of an answer, each once, in the order in which its agent reads of them: the first is e1. */
export function evidenceOf(answer: Pick<Answer, 'findings' | 'suggestions'>): Ref[] {
  const all: Ref[] = [];
  for (const finding of [...(answer.findings ?? []), ...(answer.suggestions ?? [])]) {
    if (finding.cut) continue;
    for (const ref of finding.evidence) if (!all.some((one) => sameRef(one, ref))) all.push(ref);
  }
  return all;
}

/** What an agent calls a piece of evidence: e1, e2, ...; '' for one that it does not have. */
export function labelOf(evidence: readonly Ref[], ref: Ref): string {
  const at = evidence.findIndex((one) => sameRef(one, ref));
  return at < 0 ? '' : `e${at + 1}`;
}

/** A draft's report taken into a form. What the operator wrote before stays, after what was drafted. */
export function adopt(form: AnswerForm, draft: Summary): void {
  const { report } = draft;
  const own = form.findings.filter((finding) => !finding.finding_id);
  const typed = form.key_findings.filter((text) => text.trim()).map((text) => ownFinding(text));
  form.findings = [...report.findings.map(withKey), ...own, ...typed];
  form.suggestions = [...report.suggestions.map(withKey), ...form.suggestions.filter((finding) => !finding.finding_id)];
  form.key_findings = [];
  form.summary_id = draft.summary_id;
  if (!form.summary.trim()) form.summary = summaryText(report);
}

/** The summary of a report as an answer has it: one line, as the findings say the rest. */
export function summaryText(report: Report): string {
  return report.line.trim() || report.text.trim();
}

/** What else a report has for a summary: its account where that is the line, the line where that is the account; or ''. */
export function otherSummary(report: Report | undefined, now: string): string {
  const both = [report?.line.trim() ?? '', report?.text.trim() ?? ''];
  return both[0] !== both[1] && both.every(Boolean) && both.includes(now.trim()) ? (both.find((one) => one !== now.trim()) ?? '') : '';
}

/** A finding that the operator says themselves. */
export function ownFinding(text = ''): FormFinding {
  return withKey({ kind: 'note', text, evidence: [], by_hand: true });
}

/** The draft's finding that one in the form came from. */
export function drafted(report: Report | undefined, finding: Finding): Finding | undefined {
  return finding.finding_id ? [...(report?.findings ?? []), ...(report?.suggestions ?? [])].find((one) => one.finding_id === finding.finding_id) : undefined;
}

/** A finding with other words. Those of its draft again make it what it was. */
export function reworded(finding: FormFinding, text: string, from: Finding | undefined): FormFinding {
  const next: FormFinding = { ...finding, text: text.trim(), by_hand: true };
  if (from?.text === next.text) delete next.by_hand;
  return next;
}

/** A list with one entry at another place. */
export function moved<T>(list: readonly T[], from: number, to: number): T[] {
  const rest = [...list];
  const [one] = rest.splice(from, 1);
  if (one === undefined) return rest;
  rest.splice(Math.min(Math.max(0, to), rest.length), 0, one);
  return rest;
}

/** A finding of another draft as one of the operator's list: its number there means nothing here. */
export function takenOver(finding: Finding): FormFinding {
  const own = withKey(finding);
  delete own.finding_id;
  return put(own);
}

/** A finding that is sent, whatever it was before. */
export function put<T extends Finding>(finding: T): T {
  const next = { ...finding };
  delete next.cut;
  return next;
}

/** Whether a list has a finding of the same words. */
export function has(list: readonly Finding[], finding: Finding): boolean {
  return list.some((one) => one.text.trim() === finding.text.trim());
}

/** How an answer differs from the draft it was made from. */
export interface Changes {
  edited: number;
  cut: number;
  added: number;
}

export function changes(answer: Pick<Answer, 'findings' | 'suggestions'>, report: Report): Changes {
  const sum: Changes = { edited: 0, cut: 0, added: 0 };
  for (const list of listNames) {
    const now = answer[list] ?? [];
    for (const from of report[list]) {
      const still = now.find((one) => one.finding_id === from.finding_id);
      if (!still || still.cut) sum.cut += 1;
      else if (still.text !== from.text) sum.edited += 1;
    }
    sum.added += now.filter((one) => !one.cut && one.text.trim() && !report[list].some((from) => from.finding_id === one.finding_id)).length;
  }
  return sum;
}

/** Whether anything of a draft was changed by the operator, the order of its findings included. */
export function changed(form: AnswerForm, report: Report): boolean {
  const { edited, cut, added } = changes(form, report);
  const order = (list: readonly Finding[]): string => list.map((one) => one.finding_id).join(' ');
  return edited + cut + added > 0 || ![report.line.trim(), report.text.trim()].includes(form.summary.trim()) || listNames.some((list) => order(form[list]) !== order(report[list]));
}

/**
 * What leaves of an answer: without what was cut, and without evidence that the answer does not have, or that the
 * operator left out of a recording. `gone` says which actions those are.
 */
export function released(answer: Answer, op: Pick<Operation, 'recordings'>, gone: (recording: string, action: string) => boolean): Answer {
  const stands = (ref: Ref): boolean => {
    if (ref.kind === 'field') return answer.fields?.[ref.id] !== undefined;
    if (ref.kind === 'answer') return !!answer[ref.id as 'human_input' | 'execution_result' | 'decision'];
    if (!isRecorded(ref)) return true;
    const recording = ref.recording_id ?? '';
    return op.recordings.includes(recording) && !(ref.kind === 'action' && gone(recording, ref.id));
  };
  const kept = (list: Finding[] = []): Finding[] | undefined => {
    const left = list.filter((finding) => !finding.cut).map((finding) => ({ ...finding, evidence: finding.evidence.filter(stands) }));
    return left.length ? left : undefined;
  };
  const out: Answer = { ...answer, findings: kept(answer.findings), suggestions: kept(answer.suggestions) };
  // Where there are findings, they are what the agent should know: the server tells their texts.
  if (out.findings) delete out.key_findings;
  return out;
}

/** Estimates, on the high side, how many tokens a model makes of a text; as the server does for an agent's results. */
export function tokens(text: string): number {
  let ascii = 0;
  let rest = 0;
  for (const char of text) {
    if ((char.codePointAt(0) ?? 0) < 0x80) ascii += 1;
    else rest += 1;
  }
  return Math.floor(ascii / 3) + Math.floor((rest * 3) / 2);
}

/** How many actions of recordings are in an agent's result, and how many characters of each. */
const shown = 40;
const shownWide = 160;

/** What an agent's result has of an answer, as the JSON it reads: this is what tokens are counted of. */
export function resultOf(op: Pick<Operation, 'operation_id' | 'action_type'>, answer: Answer, recordings: readonly { id: string; actions: readonly Action[] }[]): string {
  const evidence = evidenceOf(answer);
  let left = shown;
  const given = recordings.map(({ id, actions }) => {
    const lines = actions.slice(0, left).map((action) => `${clock(action.at_ns)} ${action.words}`.slice(0, shownWide));
    left -= lines.length;
    return { recording_id: id, actions: lines };
  });
  const plain = (list: Finding[] | undefined) => list?.map(({ text, kind, evidence: refs, by_hand }) => ({ text, kind, ...(refs.length && { evidence: refs.map((ref) => labelOf(evidence, ref)) }), by_hand }));
  return JSON.stringify({
    status: 'completed', operation_id: op.operation_id, action_type: op.action_type,
    verdict: answer.verdict, human_input: answer.human_input, steps: answer.steps, execution_result: answer.execution_result, summary: answer.summary,
    findings: plain(answer.findings), key_findings: answer.key_findings, fields: answer.fields, suggestions: plain(answer.suggestions), attachments: answer.attachments, ...(given.length && { recordings: given }),
  });
}

/** Something that was never recorded, or only hidden: it can be given to nobody. */
export interface Masked {
  key: string;
  words: string;
  at: number;
  /** A stretch that was not recorded, and why. */
  gap?: Gap;
}

/** What was masked where it was first seen: hidden texts, and what programs were left out. One word once, at its first time. */
export function masked(recordings: readonly { id: string; actions: readonly Action[]; gaps: readonly Gap[] }[]): Masked[] {
  const seen = new Map<string, Masked>();
  for (const { id, actions, gaps } of recordings) {
    const note = (one: Masked): void => {
      const known = `${one.gap?.reason ?? ''} ${one.words}`;
      if (!seen.has(known)) seen.set(known, one);
    };
    for (const action of actions) if (action.hidden) note({ key: `${id} ${action.action_id}`, words: action.words, at: action.at_ns });
    gaps.forEach((gap, i) => {
      if (gap.reason === 'excluded') note({ key: `${id} gap ${i}`, words: '', at: gap.from_ns, gap });
    });
  }
  return [...seen.values()];
}

/** The drafts that are worth a look, the latest of each summarizer, in the order chosen. */
export function latest(summaries: readonly Summary[], order: readonly string[]): Summary[] {
  const by = new Map<string, Summary>();
  for (const one of summaries) by.set(one.summarizer, one);
  const place = (name: string): number => (order.indexOf(name) + order.length + 1) % (order.length + 1);
  return [...by.values()].sort((a, b) => place(a.summarizer) - place(b.summarizer));
}

/** The draft to begin with: the first chosen one that is done, or what serves in its place, or any. */
export function best(summaries: readonly Summary[], chosen: readonly string[]): Summary | undefined {
  const done = summaries.filter((one) => one.state === 'done');
  for (const name of chosen) {
    const found = done.findLast((one) => one.summarizer === name || one.instead_of === name);
    if (found) return found;
  }
  return done.at(-1);
}
