import { describe, expect, test } from 'vitest';
import { answerOf, draftOf, emptyForm, formOf, isEmpty, sameForm } from './answer';

describe('an answer', () => {
  test('goes out without what was left empty', () =>
    expect(answerOf({ ...emptyForm(), human_input: ' ', execution_result: 'done', summary: '', key_findings: ['', ' a '], fields: { x: '', y: '1' } })).toEqual({
      execution_result: 'done', key_findings: ['a'], fields: { y: '1' },
    }));
  test('comes back into its form as it was', () => {
    const answer = { human_input: 'a', key_findings: ['b'], fields: { c: 'd' } };
    expect(answerOf(formOf(answer))).toEqual(answer);
  });
  test('of blanks only is empty', () => expect(isEmpty({ ...emptyForm(), human_input: '  \n', fields: { a: '' } })).toBe(true));
  test('is the same when only blanks differ', () => expect(sameForm({ ...emptyForm(), key_findings: [''] }, emptyForm())).toBe(true));
});

test('files of an answer are found again in its draft, those of a step in the step', () => {
  const file = (attachment_id: string) => ({ attachment_id, name: 'a.png', media_type: 'image/png', size: 1, check: 'not_checked' as const });
  const form = { ...emptyForm(), files: [file('att_1')], shared: ['rec_1'], steps: [{ step: 1, attachments: ['att_2'] }] };
  expect(isEmpty({ ...emptyForm(), files: [file('att_1')] })).toBe(false);
  expect(answerOf(form).attachments).toEqual(['att_1']);
  const again = formOf({ ...draftOf(form), files: [file('att_1'), file('att_2')] });
  expect(again.files).toEqual(form.files);
  expect(again.shared).toEqual(['rec_1']);
});
