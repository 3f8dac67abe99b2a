import { expect, test } from 'vitest';
import { stepsOf, withStep } from './steps';

test('answers of before have their steps as numbers in a field', () => {
  expect(stepsOf({ fields: { steps_done: '3,1,x,0,1' } })).toEqual([{ step: 1, verdict: 'done' }, { step: 3, verdict: 'done' }]);
  expect(stepsOf({ steps: [{ step: 2, note: 'n' }], fields: { steps_done: '1' } })).toEqual([{ step: 2, note: 'n' }]);
  expect(stepsOf(undefined)).toEqual([]);
});

test('a step is noted in its place, and forgotten once nothing is said of it', () => {
  let steps = withStep([], 2, { verdict: 'failed', note: 'gray', at: '2026-11-26T10:00:00Z' });
  steps = withStep(steps, 1, { verdict: 'done' });
  expect(steps).toEqual([{ step: 1, verdict: 'done' }, { step: 2, verdict: 'failed', note: 'gray', at: '2026-11-26T10:00:00Z' }]);
  expect(withStep(steps, 2, { verdict: undefined, at: undefined })).toEqual([{ step: 1, verdict: 'done' }, { step: 2, note: 'gray' }]);
  expect(withStep(steps, 1, { verdict: undefined })).toEqual([steps[1]]);
  expect(withStep(steps, 3, { attachments: [] })).toEqual(steps);
});
