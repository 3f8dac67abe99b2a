import { describe, expect, it } from 'vitest';
import { alike, argsOf, dropPlace, freshId, halves, planOf, sendable, together } from './edit';
import { sampleOperation } from '../../lib/sample.testing';

describe('a plan of the wire', () => {
  it('is there once the details are, with an id for each task and no list that is null', () => {
    expect(planOf(sampleOperation({ action_type: 'plan' }))).toBeUndefined();
    expect(planOf(sampleOperation({ details: { tasks: [] } }))).toBeUndefined();
    const plan = planOf(sampleOperation({ action_type: 'plan', details: { risk_level: 'low', tasks: [{ description: 'a' }, { id: 'x', description: 'b' }], tasks_summary: null, options: null, confirmations: 0 } }));
    expect(plan?.tasks.map(({ id }) => id)).toEqual(['t1', 'x']);
    expect([plan?.tasks_summary.tasks, plan?.options, plan?.operators, plan?.confirmations]).toEqual([[], [], [], 1]);
  });

  it('is confirmed together where more than one has to, or somebody by name', () => {
    expect([together({ confirmations: 1 }), together({ confirmations: 2 }), together({ confirmations: 1, operators: ['Mei'] })]).toEqual([false, true, true]);
  });
});

describe('a list that is sent', () => {
  it('has no ids of what was made here, but those of what others made', () => {
    const old = [{ id: 'a', description: 'a' }, { id: 'new-1', description: 'an agent may call its task so' }];
    const now = [...old, { id: 'new-2', description: ' mine ' }, { id: 't7', description: 'Mei’s' }];
    expect(sendable(now, old)).toEqual([...old, { description: 'mine' }, { id: 't7', description: 'Mei’s' }]);
  });

  it('never gives an id twice', () => expect(freshId([{ id: 'new-1', description: '' }, { id: 'new-3', description: '' }])).toBe('new-2'));
});

describe('arguments that are typed', () => {
  it('are a JSON object, nothing, or not there yet', () => {
    expect(argsOf('{"a": [1]}')).toEqual({ a: [1] });
    expect(argsOf('  \n')).toBeUndefined();
    for (const text of ['{', '[1]', '"a"', 'null', '7', '{"a":1}}']) expect(argsOf(text)).toBeNull();
  });
});

describe('a task that is split', () => {
  it('parts at what joins its two halves, the nearest to the middle', () => {
    expect(halves('Dump billing, then check the dump')).toEqual(['Dump billing', 'Check the dump']);
    expect(halves('Stop a and b and then start the new cluster')).toEqual(['Stop a and b', 'Start the new cluster']);
    expect(halves('设为只读，然后通知值班')).toEqual(['设为只读', '通知值班']);
    expect(halves('One; two; three')).toEqual(['One; two', 'Three']);
  });

  it('keeps its words where nothing joins', () => {
    expect(halves('Dump billing')).toEqual(['Dump billing', '']);
    expect(halves('and ')).toEqual(['and ', '']);
    expect(halves('')).toEqual(['', '']);
  });
});

it('a dragged row goes behind those whose middle it has passed', () => {
  const others = [{ top: 0, height: 40 }, { top: 40, height: 100 }, { top: 200, height: 40 }];
  expect([10, 30, 89, 91, 500].map((middle) => dropPlace(middle, others))).toEqual([1, 2, 2, 3, 4]);
});

it('a task of a preset is there already when it reads the same', () => {
  expect(alike({ description: 'Tell #billing ', tool_name: 'slack' }, { description: 'tell #billing', tool_name: 'slack' })).toBe(true);
  expect(alike({ description: 'Tell #billing', tool_name: 'slack' }, { description: 'Tell #billing' })).toBe(false);
});
