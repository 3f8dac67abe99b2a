import { describe, expect, it } from 'vitest';
import { begun, changeable, known, left, outcomeOf, questionOfPlan, silentSince, spanOf, statusOf, tally, withContent, took, weighty } from './run';
import { planOutcome } from './runwords';
import { underWay } from '../../lib/life';
import { at, noon, samplePlan, sampleRun } from './run.testing';
import type { Answer } from '../../lib/wire';

const operator = { role: 'operator' as const, name: 'mei' };
const system = { role: 'system' as const };
const about = known([questionOfPlan(samplePlan())?.tasks_summary]);
const answered = (answer: Answer) => samplePlan({ result: { by: operator, at: at(0), digest: '', ...answer } });

describe('where a plan stands', () => {
  it.each([
    ['pending', samplePlan({ state: 'in_progress', result: undefined })],
    ['confirmed', answered({ plan: { action: 'confirm' } })],
    ['confirmed', answered({ decision: 'approve' })],
    ['cancelled', answered({ decision: 'deny' })],
    ['modified', answered({ plan: { action: 'modify' } })],
    ['cancelled', answered({ plan: { action: 'cancel' } })],
    ['cancelled', samplePlan({ state: 'declined', overdue: true, result: undefined, ended: { by: operator, at: at(1) } })],
    ['timeout', samplePlan({ state: 'cancelled', overdue: true, result: undefined, ended: { by: system, at: at(1) } })],
    // A new plan of the session took its place: nobody was late.
    ['cancelled', samplePlan({ state: 'cancelled', result: undefined, ended: { by: system, at: at(1) } })],
  ])('%s', (status, op) => expect(statusOf(op)).toBe(status));

  it('was sent back where words say what to change, and changed where tasks do', () => {
    const tasks = sampleRun().tasks.map(({ id, description }) => ({ id, description }));
    expect([answered({ plan: { action: 'modify' } }), answered({ plan: { action: 'modify', tasks } })].map((op) => [outcomeOf(op), planOutcome(op)])).toEqual([['sent_back', 'sent back'], ['modified', 'changed']]);
  });

  it('is under way until it is stopped or every task has ended', () => {
    const states = ['waiting', 'running', 'paused', 'stopped', 'finished'] as const;
    expect(states.map((state) => underWay(samplePlan({ run: { ...sampleRun(), state } })))).toEqual([true, true, true, false, false]);
    expect(underWay(samplePlan({ run: undefined }))).toBe(false);
  });
});

describe('a run', () => {
  const run = sampleRun({ state: 'done', began_at: at(0), ended_at: at(500) }, { state: 'running', began_at: at(510) });

  it('is counted by how its tasks stand', () => {
    expect(tally(run)).toEqual({ all: 3, waiting: 1, running: 1, done: 1, failed: 0, skipped: 0, over: 1 });
  });

  it('knows how long a task took, or has taken so far', () => {
    expect(run.tasks.map((task) => took(task, noon + 610_000))).toEqual([500_000, 100_000, 0]);
  });

  it('takes as long as is usual, less what a task has run', () => {
    expect(left(run, about, noon + 610_000)).toEqual({ ms: 380_000, unknown: 1 });
    expect(left(run, about, noon + 5_000_000)).toEqual({ ms: 0, unknown: 1 });
  });

  it('lasts from its first task to its last, or to the order to stop', () => {
    expect(spanOf(run)).toEqual({ began: at(0), ended: undefined });
    expect(spanOf({ ...run, state: 'stopped', orders: [{ order: 'stop', by: operator, at: at(700) }] })).toEqual({ began: at(0), ended: at(700) });
  });

  it('can be changed where it has not begun, without what only the run says', () => {
    expect(changeable(run)).toEqual([{ id: 't3', description: 'Switch over', tool_name: 'vault' }]);
    expect(begun(run).map(({ id }) => id)).toEqual(['t1', 't2']);
  });

  it('tells of orders that have words or changes', () => {
    const of = { by: operator, at: at(1) };
    expect(withContent([{ order: 'pause', ...of }, { order: 'resume', text: 'go on', ...of }, { order: 'change', ...of }]).map(({ order }) => order)).toEqual(['resume', 'change']);
  });
});

describe('a silent agent', () => {
  const busy = samplePlan({ run: sampleRun({ state: 'running', began_at: at(0) }) });
  const minutes = (n: number): number => noon + n * 60_000;

  it('is missed after a minute where nothing runs', () => {
    expect(silentSince(samplePlan(), undefined, about, noon + 59_000)).toBeNull();
    expect(silentSince(samplePlan(), undefined, about, noon + 61_000)).toBe(at(0));
  });

  it('is given three times the usual while a task runs, and ten minutes at the least', () => {
    expect(silentSince(busy, undefined, about, minutes(26))).toBeNull();
    expect(silentSince(busy, undefined, about, minutes(28))).toBe(at(0));
    expect(silentSince(busy, undefined, new Map(), minutes(9))).toBeNull();
    expect(silentSince(busy, undefined, new Map(), minutes(11))).toBe(at(0));
  });

  it('is there while it waits at the line, and since it last came', () => {
    expect(silentSince(samplePlan(), { waiting: true }, about, minutes(90))).toBeNull();
    expect(silentSince(samplePlan(), { waiting: false, last_contact: at(600) }, about, noon + 650_000)).toBeNull();
    expect(silentSince(samplePlan(), { waiting: false, last_contact: at(600) }, about, noon + 700_000)).toBe(at(600));
  });

  it('is not missed once the plan is over', () => {
    expect(silentSince(samplePlan({ run: { ...sampleRun(), state: 'stopped' } }), undefined, about, minutes(90))).toBeNull();
  });
});

it('says what was added before what was moved, and in the order of the plan', () => {
  const change = (kind: 'added' | 'removed' | 'changed' | 'moved', to: number) => ({ change: kind, id: `${kind}${to}`, description: '', to });
  expect(weighty([change('moved', 1), change('changed', 2), change('added', 5), change('added', 3)]).map(({ id }) => id)).toEqual(['added3', 'added5', 'changed2', 'moved1']);
});
