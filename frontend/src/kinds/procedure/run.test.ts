import { expect, it } from 'vitest';
import { callOf } from './call';
import { at, doneOf, orderOf, orders, over } from './run';
import type { RunOfProcedure } from '../../lib/wire';

const run = (state: RunOfProcedure['state'], ...steps: RunOfProcedure['steps'][number]['state'][]): Pick<RunOfProcedure, 'state' | 'steps' | 'stop'> => ({ state, steps: steps.map((of, i) => ({ step: `s${i}`, state: of })) });
const said = { expected: { text: 'a' }, found: { text: 'b' } };

it('a run can be ordered what fits how it stands', () => {
  expect(orders(run('running'))).toEqual(['pause', 'take', 'end']);
  expect(orders(run('paused'))).toEqual(['continue', 'step', 'take', 'end']);
  expect(orders({ ...run('stopped'), stop: { step: 's1', ...said } })).toEqual(['continue', 'done', 'skip', 'take', 'end']);
  expect(orders({ ...run('stopped'), stop: { step: 's1', differs: true, ...said } })).toEqual(['continue', 'accept', 'done', 'skip', 'take', 'end']);
  expect(orders({ ...run('stopped'), stop: said })).toEqual(['continue', 'done', 'take', 'end']); // an effect is no step
  expect(orders(run('taken'))).toEqual(['continue', 'done', 'end']);
  for (const state of ['good', 'given_up', 'broke_off'] as const) {
    expect(orders(run(state))).toEqual([]);
    expect(over(run(state))).toBe(true);
  }
  expect(over(run('stopped'))).toBe(false);
});

it('to continue at a step that may have been done says that it was not', () => {
  expect(orderOf({ stop: { step: 's1', unsure: true, ...said } }, 'continue')).toEqual({ do: 'continue', not_done: true });
  expect(orderOf({ stop: { step: 's1', unsure: true, ...said } }, 'done')).toEqual({ do: 'done' });
  expect(orderOf({ stop: { step: 's1', ...said } }, 'continue')).toEqual({ do: 'continue' });
});

it('a run is at its first step that is not over', () => {
  expect(at(run('running', 'done', 'skipped', 'checking', 'later'))).toBe(2);
  expect(doneOf(run('running', 'done', 'skipped', 'by_hand', 'doing'))).toBe(3);
  expect(at(run('good', 'done', 'by_hand'))).toBe(2);
});

it('a call is read as far as it has the shape of one', () => {
  expect(callOf({ details: { procedure: 'p', version: 2, parameters: { a: '1', b: 3 }, does: ['reads', 4], sites: 'x' } })).toEqual({
    procedure: 'p', version: 2, title: '', risk: undefined, parameters: { a: '1', b: '' }, does: ['reads'], sites: [], outputs: [],
  });
});
