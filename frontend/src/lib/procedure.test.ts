import { describe, expect, it } from 'vitest';
import { begin, called, can, filled, literalOf, numbers, obstacle, pieces, procedureOf, renameParameter, renameSecret, setState, stateOf, suggested, typed, withStep } from './procedure';
import type { Procedure, ProcedureStep, TaughtRow } from './wire';

const search: ProcedureStep = { id: 's2', do: 'change', title: 'Search for Nordwind', text: 'Nordwind', target: { role: 'searchbox', name: 'Customer' }, then: [{ is: 'text', text: 'Nordwind' }], from: [{ recording_id: 'rec_a', action_id: 'a2' }] };
const row: ProcedureStep = { id: 's3', do: 'click', title: 'Open the row', target: { role: 'link', name: 'Nordwind', selectors: [['aria/Nordwind'], ['#row-2']] }, then: [{ is: 'title', text: 'Nordwind' }] };
const taught: Procedure = {
  deskbell_procedure: 1, name: 'export_invoice', title: 'Export an invoice', where: 'browser', does: ['reads'],
  secrets: [{ name: 'login', site: 'https://portal.example' }],
  steps: [{ id: 's1', do: 'change', title: 'Sign in', secret: 'login', then: [{ is: 'title', text: 'Invoices' }] }, search, row],
};

describe('texts with parameters', () => {
  it('have braces as braces where they stand twice', () => {
    expect(pieces('{{a}} of {month}!')).toEqual([{ text: '{a} of ' }, { name: 'month' }, { text: '!' }]);
    expect(filled('{{{a}}}', { a: '{b}' })).toBe('{{b}}');
    expect(filled('{a} {b}', { a: '1' })).toBe('1 {b}');
  });
  it('are named as parameters can be', () => expect(['Kunde Nr. 7', '7 days', '客户'].map(called)).toEqual(['kunde_nr_7', 'days', '']));
});

describe('rows', () => {
  it('are those of the recordings, with what was left out; a step that is in none comes last', () => {
    const rows: TaughtRow[] = [{ state: 'same', step: 's1', from: ['a1', 'b1'] }, { state: 'left_out', from: ['', 'b2'] }, { state: 'parameter', step: 's2', from: ['a2', 'b3'] }];
    const edit = begin(taught, rows);
    expect(edit.rows.map(({ step, out }) => [step?.id, out])).toEqual([['s1', false], [undefined, true], ['s2', false], ['s3', false]]);
    expect(numbers(edit.rows)).toEqual([1, 0, 2, 3]);
    expect(edit.rows.map(stateOf)).toEqual(['same', 'left_out', 'same', 'same']);
    expect(procedureOf(edit)).toEqual(taught);
    expect(can(edit.rows[1], 'same')).toBe(false); // there is nothing to bring back
  });
  it('have their actions in the columns of their recordings', () => {
    const shown = { ...taught, taught: [{ recording_id: 'rec_of_a_run' }, { recording_id: 'rec_a' }] };
    expect(begin(shown).rows.map(({ from }) => from)).toEqual([['', ''], ['', 'a2'], ['', '']]);
  });
});

describe('a row', () => {
  const edit = begin(taught);
  it('becomes a parameter wherever its text stands alone, and the same again', () => {
    const made = setState(edit, 1, 'parameter');
    const { parameters, steps } = procedureOf(made);
    expect(parameters).toEqual([{ name: 'customer', type: 'text', examples: ['Nordwind'] }]);
    expect(steps[1]).toEqual({ ...search, title: 'Search for {customer}', text: '{customer}', then: [{ is: 'text', text: '{customer}' }] });
    expect(steps[2]).toEqual({ ...row, target: { role: 'link', name: '{customer}', selectors: [['#row-2']] }, then: [{ is: 'title', text: '{customer}' }] });
    expect(stateOf(made.rows[1] ?? { out: true, from: [] })).toBe('parameter');
    expect(typed(made.rows[1] ?? { out: true, from: [] })).toBe(false);
    const back = procedureOf(setState(setState(made, 1, 'same'), 2, 'same'));
    expect(back.steps[1]).toEqual(search);
    expect(back.parameters).toEqual([]);
  });
  it('has its text found in the words around elements, which are without numbers and no part of what a row is', () => {
    const send: ProcedureStep = { id: 's4', do: 'click', title: 'Send', says: ['Order of Paper A# for {other}', 'Bye'] };
    const made = setState(begin({ ...taught, steps: [{ ...search, text: 'Paper A4' }, send] }), 0, 'parameter');
    expect(procedureOf(made).steps[1]?.says).toEqual(['Order of {customer} for {other}', 'Bye']);
    expect(made.rows.map(stateOf)).toEqual(['parameter', 'same']);
    expect(procedureOf(setState(begin({ ...taught, steps: [{ ...search, text: '42' }, { ...send, says: ['No. #'] }] }), 0, 'parameter')).steps[1]?.says).toEqual(['No. #']);
  });
  it('has its secrets left out with it, and back again', () => {
    const without = setState(edit, 0, 'left_out');
    expect(procedureOf(without)).toMatchObject({ secrets: [], steps: [{ id: 's2' }, { id: 's3' }] });
    expect(procedureOf(setState(without, 0, 'same')).secrets).toEqual(taught.secrets);
  });
  it('is optional until it is the same', () => {
    const optional = setState(edit, 0, 'optional');
    expect(optional.rows.map(stateOf)[0]).toBe('optional');
    expect(procedureOf(setState(optional, 0, 'same')).steps[0]).toEqual(taught.steps[0]);
  });
  it('has no parameter in a secret', () => {
    expect(literalOf(taught.steps[0] ?? search)).toBe('');
    expect(can(edit.rows[0], 'parameter')).toBe(false);
    expect(setState(edit, 0, 'parameter')).toBe(edit);
  });
});

it('other names of parameters and secrets stand wherever they are used', () => {
  const edit = setState(begin({ ...taught, effects: [{ is: 'http', url: 'https://a/{customer}/{{customer}}', headers: { Authorization: 'SECRET:login' } }] }), 1, 'parameter');
  const p = procedureOf(renameSecret(renameParameter(edit, 'customer', 'firm'), 'login', 'portal'));
  expect(JSON.stringify(p)).not.toMatch(/[^{]\{customer\}|login/);
  expect(p).toMatchObject({ parameters: [{ name: 'firm' }], secrets: [{ name: 'portal' }], effects: [{ url: 'https://a/{firm}/{{customer}}', headers: { Authorization: 'SECRET:portal' } }] });
  expect(p.steps[0]?.secret).toBe('portal');
});

it('a procedure is saved once every step has a checkpoint and no finding is an error', () => {
  const edit = begin(taught);
  const finding = (level: 'error' | 'warning') => ({ rule: 'r', level, said: { text: 'no' } });
  expect(obstacle(edit, [finding('warning')])).toBeUndefined();
  expect(obstacle(edit, [finding('warning'), finding('error')])).toEqual({ finding: finding('error') });
  const bare = withStep(edit, 1, { then: undefined });
  expect(obstacle(bare, [])).toEqual({ row: 1 });
  expect(obstacle(setState(bare, 1, 'left_out'), [])).toBeUndefined();
  expect(obstacle({ ...edit, head: { ...edit.head, title: ' ' } }, [])).toBe('title');
  expect(obstacle({ ...edit, rows: [] }, [])).toBe('steps');
});

it('a step without a checkpoint is offered one', () => {
  expect(suggested({ id: 'x', do: 'navigate', title: '', url: 'https://a.example/b?c' })).toEqual({ is: 'address', text: 'https://a.example/b*' });
  expect(suggested(search)).toEqual({ is: 'value', target: search.target, text: 'Nordwind' });
  expect(suggested(row)).toEqual({ is: 'text', text: '' }); // what was pressed may be gone
});
