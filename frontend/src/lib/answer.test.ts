import { describe, expect, test } from 'vitest';
import { answerOf, emptyForm, formOf, isEmpty, sameForm } from './answer';

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
