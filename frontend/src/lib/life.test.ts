import { describe, expect, test } from 'vitest';
import { contact, dangerous, forOthers, initials, rings, shortId, stateSince, summarySaysMore, title } from './life';
import type { TimelineEvent } from './wire';
import { sampleOperation as op } from './sample.testing';

const now = Date.parse('2026-01-02T10:05:00Z');
const agent = { role: 'agent', name: 'release-bot' } as const;
const operator = { role: 'operator', name: 'ada' } as const;

describe('it rings', () => {
  test.each([
    ['when nobody has taken it', op(), true],
    ['when the agent has answered a question', op({ state: 'in_progress', claimed_by: 'ada', messages: [{ by: agent, at: '2026-01-02T10:04:00Z', text: 'x' }] }), true],
  ])('%s', (_, o, want) => expect(rings(o, now)).toBe(want));
});

describe('it does not ring', () => {
  const asked = { by: agent, at: '2026-01-02T10:04:00Z', text: 'x' };
  test.each([
    ['when somebody has claimed it', op({ state: 'claimed', claimed_by: 'mei' })],
    ['when it is overdue', op({ overdue: true })],
    ['while it is put off', op({ snoozed_until: '2026-01-02T10:06:00Z' })],
    ['while the agent is asked', op({ state: 'waiting_input' })],
    ['when it has ended', op({ state: 'cancelled' })],
    ['when this desk left the team that has it', op({ frozen: true })],
    ['once an answer to the agent is begun', op({ state: 'in_progress', messages: [asked], draft: { by: operator, at: '2026-01-02T10:04:30Z' } })],
  ])('%s', (_, o) => expect(rings(o, now)).toBe(false));
});

test('it rings again when the time it was put off to has come', () => {
  expect(rings(op({ snoozed_until: '2026-01-02T10:05:00Z' }), now)).toBe(true);
});

test('high and critical risks are dangerous, others are not', () => {
  expect([undefined, 'low', 'medium', 'high', 'critical'].map((risk) => dangerous(op({ risk: risk as never })))).toEqual([false, false, false, true, true]);
});

describe('an agent', () => {
  test('that waits is here', () => expect(contact(op(), { waiting: true }, now)).toEqual({ here: true }));
  test('is no one where a member of the team asks', () => expect(contact(op({ to: 'ada' }), { waiting: false }, now)).toBeNull());
  test('is still here between two polls', () => expect(contact(op(), { waiting: false, last_contact: '2026-01-02T10:04:40Z' }, now)).toEqual({ here: true }));
  test('that has just rung is here', () => expect(contact(op({ created_at: '2026-01-02T10:04:50Z' }), { waiting: false }, now)).toEqual({ here: true }));
  test('has gone after half a minute of silence', () =>
    expect(contact(op(), { waiting: false, last_contact: '2026-01-02T10:04:20Z' }, now)).toEqual({ here: false, since: '2026-01-02T10:04:20Z' }));
  test('nobody has told of is unknown', () => expect(contact(op(), undefined, now)).toBeNull());
});

test('a title is the first line that says something, cut by letters', () => {
  expect(title(op({ description: '\n  Deploy  \nmore' }))).toBe('Deploy');
  expect(title(op({ description: '😀😀😀😀' }), 3)).toBe('😀😀…');
});

test('a long id is cut to its end', () => {
  expect(shortId('op_01m7y0g3603japr1gya2m3ayhe')).toBe('op_…3ayhe');
  expect(shortId('op_7f3k')).toBe('op_7f3k');
});

test('initials stand for a name in any script', () => {
  expect(['release-bot', 'codex', '发布助手', ''].map(initials)).toEqual(['rb', 'co', '发布', '?']);
});

describe('where two have to approve', () => {
  const first = [{ by: { role: 'operator', name: 'ada' }, at: '2026-01-02T10:00:00Z', until: '2026-01-02T10:15:00Z', digest: '', answer: {} }] as const;
  const two = { approvals_needed: 2, requested_by: 'mei' };
  test.each<[string, string, Parameters<typeof op>[0], string]>([
    ['one approval is enough', 'mei', { requested_by: 'mei' }, ''],
    ['whose agent asked cannot', 'mei', two, 'asked'],
    ['the first cannot be the second', 'ada', { ...two, approvals: [...first] }, 'first'],
    ['the first can again once it lapsed', 'ada', { ...two, approvals: [{ ...first[0], until: '2026-01-02T10:04:00Z' }] }, ''],
    ['another can', 'bo', { ...two, approvals: [...first] }, ''],
    ['what is for one member is not for others', 'mei', { to: 'ada' }, 'one'],
    ['but for that one', 'ada', { to: 'ada' }, ''],
    ['nothing is to be approved once it is over', 'mei', { ...two, state: 'cancelled' }, ''],
  ])('%s', (_name, who, o, want) => expect(forOthers(op(o), who, now)).toBe(want));
});

describe('since when it is as it is', () => {
  const at = (...types: TimelineEvent['type'][]): string => stateSince(types.map((type, i) => ({ type, at: String(i) })));
  test.each<[string, TimelineEvent['type'][], string]>([
    ['what is only shown and seen is as it was', ['invoked', 'shown', 'seen'], '0'],
    ['the first draft is the beginning of work, the second is not', ['invoked', 'input_saved', 'input_saved'], '1'],
    ['a question waits for the agent, whatever is drafted meanwhile', ['invoked', 'asked', 'input_saved', 'overdue'], '1'],
    ['a reply begins the work anew', ['invoked', 'asked', 'replied', 'seen'], '2'],
    ['what was given back waits anew', ['invoked', 'claimed', 'released'], '2'],
    ['after the first of two approvals it waits for the second', ['invoked', 'claimed', 'approved_first', 'routed'], '2'],
    ['one that is claimed stays so when it is handed over', ['invoked', 'claimed', 'handed_over'], '1'],
    ['one that is not becomes claimed by it', ['invoked', 'handed_over'], '1'],
  ])('%s', (_name, types, since) => expect(at(...types)).toBe(since));
});

test('a summary made of the answer is not shown beside it; one that somebody wrote is', () => {
  const says = (summary: string, human_input = '', execution_result = '') =>
    summarySaysMore({ by: { role: 'operator' }, at: '', digest: '', summary, human_input, execution_result });
  expect(says('Approved')).toBe(false);
  expect(says('Denied: not on a Friday', 'not on a Friday\nask again on Monday')).toBe(false);
  expect(says('exported: 1 field filled in: 2 key findings', '', 'exported')).toBe(false);
  expect(says('')).toBe(false);
  expect(says('Checked both signatures', 'done')).toBe(true);
  expect(says('Approved: after a call with Tom', 'go')).toBe(true);
});
