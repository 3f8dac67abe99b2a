import { describe, expect, it } from 'vitest';
import type { Operation } from '../lib/wire';
import type { AppState } from './app.svelte';
import { PopupStack } from './popup.svelte';
import { ticker } from './ticker.svelte';

const ago = (seconds: number): string => new Date(ticker.now - seconds * 1000).toISOString();

function op(id: string, more: Partial<Operation> = {}): Operation {
  return {
    operation_id: id, version: 1, action_type: 'approve', state: 'pending', overdue: false, description: id, agent_id: 'bot', priority: 5,
    digest: '', created_at: ago(10), updated_at: ago(10), on_timeout: 'mark', messages: [], recordings: [], ...more,
  };
}

const answered = (id: string, by: string, more: Partial<Operation> = {}): Operation =>
  op(id, { state: 'completed', result: { decision: 'approve', by: { role: 'operator', name: by }, at: ago(1), digest: '' }, ...more });

/** The ids of the cards, top first, where all of them were on screen before unless fresh. */
function cards(ops: Operation[], o: { sent?: string[]; drafts?: string[]; fresh?: boolean; recorded?: string; stopped?: { operation_id: string; stops: number }[]; hidden?: string } = {}): string[] {
  const app = {
    operator: 'mei', member: 'mei',
    operations: { all: new Map(ops.map((one) => [one.operation_id, one])) },
    answering: { outcomes: new Map((o.sent ?? []).map((id) => [id, { kind: 'sent' }])) },
    stopOf: (id: string) => o.stopped?.find(({ operation_id }) => operation_id === id),
    recorder: { on: (id: string) => (id === o.recorded ? {} : null) },
    hasDraft: (one: Operation) => o.drafts?.includes(one.operation_id) ?? false,
  };
  const stack = new PopupStack(app as unknown as AppState);
  if (!o.fresh) ops.forEach((one) => stack.show(one.operation_id));
  if (o.hidden) stack.hide(o.hidden);
  return stack.cards.map((one) => one.operation_id);
}

describe('the stack of cards', () => {
  it('has the most urgent on top, and what is overdue below', () => {
    expect(cards([op('low', { priority: 2 }), op('late', { priority: 9, overdue: true }), op('high', { priority: 8 })])).toEqual(['high', 'low', 'late']);
  });

  it('has a run that has stopped, though it is recorded, until it was opened', () => {
    const run = [op('run', { state: 'claimed', claimed_by: 'mei' })];
    const stopped = [{ operation_id: 'run', stops: 1 }];
    expect(cards(run, { fresh: true, recorded: 'run' })).toEqual([]);
    expect(cards(run, { fresh: true, recorded: 'run', stopped })).toEqual(['run']);
    expect(cards(run, { fresh: true, recorded: 'run', stopped, hidden: 'run' })).toEqual([]);
  });

  it('has in a team what is for whoever looks, and what was handed over to them', () => {
    const over = (to: string): Partial<Operation> => ({ state: 'claimed', claimed_by: 'tom', hand_over: { from: 'tom', to, by: 'tom', at: ago(5) } });
    expect(cards([op('asked'), op('others', { others_asked: true }), op('overdue', { others_asked: true, overdue: true }), op('handed', over('mei')), op('elsewhere', { ...over('ada'), others_asked: true })], { fresh: true })).toEqual(['asked', 'handed']);
  });

  it('hides in a team what turns out to be for others, unless something is written for it', () => {
    const others = { others_asked: true };
    expect(cards([op('asked'), op('others', others), op('written', others), op('taken', { ...others, state: 'claimed', claimed_by: 'tom' })], { drafts: ['written'] })).toEqual(['asked', 'taken', 'written']);
  });

  it('has nothing of a team that this desk left', () => {
    expect(cards([op('asked', { frozen: true }), op('late', { overdue: true, frozen: true }), answered('faster', 'li', { frozen: true })])).toEqual([]);
  });

  it('lets go of what this operator answered, in the card or in a notification', () => {
    expect(cards([answered('here', 'mei'), answered('notification', 'mei')], { sent: ['here'] })).toEqual([]);
  });

  it('keeps what this operator answered here while it can be undone, below what waits, and not what they answered elsewhere', () => {
    const leaving = (id: string): Operation => op(id, { state: 'in_progress', priority: 9, leaving: { by: { role: 'operator', name: 'mei' }, at: ago(1), leaves_at: ago(-4), version: 2 } });
    expect(cards([leaving('here'), leaving('console'), op('next')], { sent: ['here'] })).toEqual(['next', 'here']);
    expect(cards([{ ...leaving('canceled'), state: 'cancelled', leaving: undefined }], { sent: ['canceled'] })).toEqual(['canceled']);
  });

  it('keeps what somebody else answered, until it is put away', () => {
    expect(cards([answered('faster', 'li')])).toEqual(['faster']);
  });

  it('keeps what was typed and not sent', () => {
    expect(cards([answered('typed', 'mei')], { drafts: ['typed'] })).toEqual(['typed']);
  });

  it('has a half-written answer again after a restart, and nobody else\'s', () => {
    const written = (id: string, by: string): Operation => op(id, { state: 'in_progress', draft: { by: { role: 'operator', name: by }, at: ago(5), human_input: 'Warm' } as Operation['draft'] });
    expect(cards([written('mine', 'mei'), written('hers', 'li'), op('claimed', { state: 'claimed', claimed_by: 'mei' })], { fresh: true })).toEqual(['mine']);
  });

  it('leaves out what is being recorded: whoever works on it needs no card of it', () => {
    expect(cards([op('recorded', { state: 'claimed', claimed_by: 'mei' }), op('other')], { recorded: 'recorded' })).toEqual(['other']);
  });

  it('shows for a while that a risky answer went out', () => {
    expect(cards([answered('risky', 'mei', { risk: 'critical' })], { sent: ['risky'] })).toEqual(['risky']);
  });
});
