import { describe, expect, test } from 'vitest';
import { answerOf, draftOf, emptyForm, formOf, type AnswerForm } from './answer';
import { adopt, best, changed, changes, evidenceOf, labelOf, latest, masked, moved, otherSummary, ownFinding, released, reworded, takenOver, tokens } from './findings';
import { draft, finding } from './findings.testing';
import { action } from './recording.testing';
import type { Ref } from './wire';

const picked: Ref = { kind: 'action', recording_id: 'rec_1', id: 'a3' };
const filled: Ref = { kind: 'field', id: 'plan_name' };
const asked: Ref = { kind: 'request', id: 'data_to_extract' };

function adopted(): AnswerForm {
  const form = emptyForm();
  adopt(form, draft());
  return form;
}

describe('labels of evidence', () => {
  const answer = { findings: [finding('f1', 'a', [picked, filled]), { ...finding('f2', 'b', [asked]), cut: true }, finding('f3', 'c', [picked])], suggestions: [finding('s1', 'd', [asked])] };
  test('are counted once, in the order in which they are read, without what was cut', () =>
    expect(evidenceOf(answer)).toEqual([picked, filled, asked]));
  test('are e1, e2, ..., and none for what the agent does not have', () => {
    const all = evidenceOf(answer);
    expect([labelOf(all, picked), labelOf(all, asked), labelOf(all, { kind: 'step', id: '0' })]).toEqual(['e1', 'e3', '']);
  });
  test('tell recordings apart', () => expect(labelOf([picked], { ...picked, recording_id: 'rec_2' })).toBe(''));
});

describe('a draft taken into a form', () => {
  test('has the findings, suggestions and summary of the draft', () => {
    const form = adopted();
    expect(form.findings.map((one) => one.finding_id)).toEqual(['f1', 'f2', 'f3']);
    expect([form.summary, form.summary_id]).toEqual(['Read the plan.', 'sum_1']);
    expect(changed(form, draft().report)).toBe(false);
  });
  test('loses nothing that was written before', () => {
    const form = { ...emptyForm(), summary: 'Mine', key_findings: ['Seen', ' '], findings: [ownFinding('Noted')] };
    adopt(form, draft());
    expect(form.summary).toBe('Mine');
    expect(form.findings.slice(3).map((one) => one.text)).toEqual(['Noted', 'Seen']);
    expect(form.key_findings).toEqual([]);
  });
  test('taken anew keeps what the operator added', () => {
    const form = adopted();
    form.findings.push(ownFinding('Noted'));
    adopt(form, draft({ summary_id: 'sum_2', report: { ...draft().report, findings: [finding('f1', 'Other')] } }));
    expect(form.findings.map((one) => one.text)).toEqual(['Other', 'Noted']);
    expect(form.summary_id).toBe('sum_2');
  });
  test('comes back from a saved draft as it was, cut ones and shared recordings included', () => {
    const form = adopted();
    form.findings = moved(form.findings, 0, 2).map((one, i) => (i === 1 ? { ...one, cut: true } : one));
    form.shared = ['rec_1'];
    const again = formOf(draftOf(form));
    expect(answerOf(again)).toEqual(answerOf(form));
    expect(again.shared).toEqual(['rec_1']);
    expect(answerOf(form).attachments).toBeUndefined();
  });
});

test('a summary is the line or the account, whichever is wanted', () => {
  const report = { ...draft().report, text: 'Read it.\n\nAll of it.' };
  expect(otherSummary(report, report.line)).toBe(report.text);
  expect(otherSummary(report, report.text)).toBe(report.line);
  expect(otherSummary(report, 'Mine')).toBe('');
  expect(otherSummary(draft().report, 'Read the plan.')).toBe('');
});

describe('what was changed', () => {
  test('counts edited, cut and added', () => {
    const form = adopted();
    const [one, two] = form.findings;
    if (!one || !two) throw new Error('no findings');
    form.findings[0] = reworded(one, ' Plan is Scale ', draft().report.findings[0]);
    form.findings[1] = { ...two, cut: true };
    form.findings.push(takenOver(finding('f9', 'From the other')), ownFinding(''));
    expect(changes(form, draft().report)).toEqual({ edited: 1, cut: 1, added: 1 });
    expect(form.findings[0]).toMatchObject({ text: 'Plan is Scale', by_hand: true, finding_id: 'f1' });
  });
  test('the draft’s own words again are no change', () => {
    const one = adopted().findings[0];
    if (!one) throw new Error('no finding');
    const back = reworded(reworded(one, 'x', one), one.text, one);
    expect([back.text, back.by_hand]).toEqual([one.text, undefined]);
  });
  test('another order is one', () => {
    const form = adopted();
    form.findings = moved(form.findings, 2, 0);
    expect(changed(form, draft().report)).toBe(true);
  });
});

test.each([[0, 2, 'bca'], [2, 0, 'cab'], [1, 9, 'acb'], [1, -3, 'bac'], [7, 0, 'abc']])('moving %i to %i', (from, to, want) => expect(moved(['a', 'b', 'c'], from, to).join('')).toBe(want));

describe('what leaves', () => {
  const op = { recordings: ['rec_1'] };
  const gone = (_recording: string, id: string): boolean => id === 'a9';
  test('is without what was cut', () => {
    const answer = { key_findings: ['old'], findings: [{ ...finding('f1', 'secret'), cut: true }, finding('f2', 'b')], suggestions: [{ ...finding('s1', 'hidden'), cut: true }] };
    const out = released(answer, op, gone);
    expect(JSON.stringify(out)).not.toMatch(/secret|hidden|old/);
    expect(out.suggestions).toBeUndefined();
  });
  test('rests on nothing that does not leave', () => {
    const other: Ref = { kind: 'action', recording_id: 'rec_2', id: 'a1' };
    const left: Ref = { kind: 'action', recording_id: 'rec_1', id: 'a9' };
    const said: Ref = { kind: 'answer', id: 'human_input' };
    const out = released({ fields: { plan_name: 'x' }, findings: [finding('f1', 'a', [picked, filled, { kind: 'field', id: 'none' }, other, left, said, asked])] }, op, gone);
    expect(out.findings?.[0]?.evidence).toEqual([picked, filled, asked]);
  });
  test('keeps findings typed as lines where there are no others', () => expect(released({ key_findings: ['a'] }, op, gone)).toEqual({ key_findings: ['a'] }));
});

test.each([['', 0], ['abc', 1], ['abcd', 1], ['abcdef', 2], ['中文', 3], ['ab中', 1], ['😀', 1]])('tokens of %j are estimated as the server does', (text, want) => expect(tokens(text)).toBe(want));

test('what was masked is told once, at its first time', () => {
  const hidden = (seq: number, words: string) => action(seq, { type: 'type', hidden: 'password', words });
  const found = masked([{ id: 'rec_1', actions: [hidden(2, 'Typed into Password'), action(3), hidden(4, 'Typed into Password')], gaps: [{ from_ns: 5e9, to_ns: 6e9, reason: 'excluded' }, { from_ns: 1, to_ns: 2, reason: 'paused' }] }]);
  expect(found.map(({ words, at, gap }) => [words, at, gap?.reason])).toEqual([['Typed into Password', 2e9, undefined], ['', 5e9, 'excluded']]);
});

describe('of several drafts', () => {
  const model = draft({ summary_id: 'sum_2', summarizer: 'model', state: 'failed', problem: 'no answer' });
  const instead = draft({ summary_id: 'sum_3', instead_of: 'model' });
  const old = draft({ summary_id: 'sum_0', summarizer: 'desktop' });
  test('what serves in place of the chosen one comes first', () => expect(best([old, model, instead], ['model', 'desktop'])?.summary_id).toBe('sum_3'));
  test('the chosen one does, once it is done', () => expect(best([old, instead, { ...model, state: 'done' }], ['model'])?.summary_id).toBe('sum_2'));
  test('any does where none is chosen, and none where none is done', () => {
    expect(best([old], ['model'])?.summary_id).toBe('sum_0');
    expect(best([model], ['model'])).toBeUndefined();
  });
  test('the latest of each is shown, in the order chosen', () =>
    expect(latest([old, model, instead, { ...old, summary_id: 'sum_9' }], ['browser', 'model']).map((one) => one.summary_id)).toEqual(['sum_3', 'sum_2', 'sum_9']));
});
