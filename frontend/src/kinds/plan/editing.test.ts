import { beforeEach, describe, expect, it, vi } from 'vitest';
import { answerOf, emptyForm, formOf } from '../../lib/answer';
import type { Listed } from './diff';
import type { Draft } from '../../state/draft.svelte';
import { PlanEditing } from './editing.svelte';

const old: Listed[] = [...'abcd'].map((id) => ({ id, description: `task ${id}`, tool_name: 'sh' }));

let draft: { form: ReturnType<typeof emptyForm>; touch: ReturnType<typeof vi.fn> };
let plan: PlanEditing;
const ids = (): string => plan.tasks.map(({ id }) => id).join(' ');
const kinds = (): string => plan.changes.map(({ change, id }) => `${change} ${id}`).join(', ');

beforeEach(() => {
  draft = { form: emptyForm(), touch: vi.fn() };
  plan = new PlanEditing(draft as unknown as Draft, () => old);
});

describe('the tasks of a plan', () => {
  it('are as they came until one is changed, and then in the draft', () => {
    expect([ids(), plan.changed, draft.form.tasks]).toEqual(['a b c d', false, null]);
    plan.remove('b');
    expect([ids(), kinds()]).toEqual(['a c d', 'removed b']);
    expect(draft.form.tasks?.map(({ id }) => id)).toEqual(['a', 'c', 'd']);
    expect(draft.touch).toHaveBeenCalled();
  });

  it('are not a change once they are as they were', () => {
    plan.move('a', 3);
    plan.move('a', 1);
    expect([plan.changed, draft.form.tasks]).toEqual([false, null]);
  });

  it('go out and come back with the draft', () => {
    plan.add([{ description: 'new' }], 2);
    const back = formOf(answerOf(draft.form));
    expect(back.tasks?.map(({ id, description }) => [id, description])).toEqual([['a', 'task a'], ['new-1', 'new'], ['b', 'task b'], ['c', 'task c'], ['d', 'task d']]);
    expect(formOf(answerOf({ ...emptyForm(), task_by_task: true }))).toMatchObject({ tasks: null, task_by_task: true });
  });

  it('are moved to a place, and never out of the list', () => {
    expect(plan.move('c', 1)).toBe(1);
    expect(ids()).toBe('c a b d');
    expect(plan.move('c', 99)).toBe(4);
    expect(plan.move('c', -3)).toBe(1);
    expect(plan.move('nobody', 1)).toBe(0);
    expect(plan.rows.find((row) => row.task.id === 'c')?.moved).toBe('up');
  });

  it('are put back where they were, once what they stood behind has moved, too', () => {
    plan.remove('c');
    plan.move('b', 1);
    plan.restore('c');
    expect(ids()).toBe('b c a d');
    plan.remove('a');
    plan.restore('a');
    expect(ids()).toBe('a b c d');
  });

  it('are split in two, of which the second is open', () => {
    plan.edit('a');
    plan.write({ description: 'stop it, then start it' });
    const fresh = plan.split('a');
    expect(plan.tasks.slice(0, 2)).toEqual([{ id: 'a', description: 'stop it', tool_name: 'sh' }, { id: fresh, description: 'Start it', tool_name: 'sh' }]);
    expect(plan.open).toBe(fresh);
    plan.putBack();
    expect([ids(), plan.find('a')?.description]).toEqual(['a b c d', 'stop it, then start it']);
  });

  it('can be taken over as a whole, and that undone', () => {
    plan.remove('a');
    plan.take([{ id: 'd', description: 'task d', tool_name: 'sh' }, { description: 'Mei’s' }]);
    expect(ids()).toBe('d new-1');
    plan.undo();
    expect(ids()).toBe('b c d');
    plan.reset();
    expect(plan.changed).toBe(false);
    plan.undo();
    expect(ids()).toBe('b c d');
  });
});

describe('a task that is open', () => {
  it('is changed at every key, and back as it was before with one undo', () => {
    plan.edit('b');
    for (const text of ['t', 'te', 'text']) plan.write({ description: text });
    expect([plan.find('b')?.description, draft.form.tasks?.[1]?.description]).toEqual(['text', 'text']);
    plan.keep();
    expect(plan.open).toBe('');
    plan.undo();
    expect([plan.changed, plan.canUndo, plan.canRedo]).toEqual([false, false, true]);
    plan.redo();
    expect(plan.find('b')?.description).toBe('text');
  });

  it('is put back as it was when it was opened, which is no step of its own', () => {
    plan.edit('b');
    plan.write({ description: 'first' });
    plan.keep();
    plan.edit('b');
    plan.write({ description: 'second' });
    plan.putBack();
    expect(plan.find('b')?.description).toBe('first');
    plan.undo();
    expect([plan.changed, plan.canUndo]).toEqual([false, false]);
  });

  it('is no step while nothing is typed', () => {
    plan.edit('b');
    plan.putBack();
    plan.edit('c');
    plan.keep();
    expect(plan.canUndo).toBe(false);
  });

  it('closes when another opens, or is removed', () => {
    plan.edit('a');
    plan.write({ description: 'x' });
    plan.edit('b');
    expect([plan.open, plan.find('a')?.description]).toEqual(['b', 'x']);
    plan.remove('b');
    expect(plan.open).toBe('');
    plan.edit('nobody');
    expect(plan.open).toBe('');
  });

  it('keeps no empty field, so that an emptied one reads as absent', () => {
    plan.edit('a');
    plan.write({ tool_name: '', priority: 0, expected_outcome: '' });
    expect(plan.find('a')).toEqual({ id: 'a', description: 'task a' });
    plan.write({ tool_name: 'sh' });
    expect(plan.changed).toBe(false);
  });

  it('takes arguments only as a JSON object, and keeps what is not one yet', () => {
    plan.edit('a');
    plan.writeArgs('{"command": "ls');
    expect([plan.find('a')?.args, plan.argsTrouble('a'), plan.lack]).toEqual([undefined, '{"command": "ls', { id: 'a', why: 'args' }]);
    // What is saved has it, too.
    expect(Object.values(formOf(answerOf(draft.form)).fields)).toEqual(['{"command": "ls']);
    plan.writeArgs('{"command": "ls"}');
    expect([plan.find('a')?.args, plan.argsTrouble('a'), plan.lack]).toEqual([{ command: 'ls' }, '', undefined]);
    plan.writeArgs('');
    expect(plan.find('a')?.args).toBeUndefined();
    plan.writeArgs('nonsense');
    plan.putBack();
    expect([plan.argsTrouble('a'), plan.changed]).toEqual(['', false]);
  });
});

describe('a task that is added', () => {
  it('goes again when it is put back, and leaves no step', () => {
    const id = plan.addEmpty(2);
    expect([ids(), plan.open, plan.lack]).toEqual([`a ${id} b c d`, id, { id, why: 'empty' }]);
    plan.write({ description: 'half' });
    plan.putBack();
    expect([ids(), plan.canUndo]).toEqual(['a b c d', false]);
  });

  it('is one step with what was typed into it', () => {
    plan.addEmpty();
    plan.write({ description: 'whole' });
    plan.keep();
    expect(plan.tasks.at(-1)?.description).toBe('whole');
    plan.undo();
    expect([ids(), plan.canUndo]).toEqual(['a b c d', false]);
    plan.redo();
    expect(plan.tasks.at(-1)?.description).toBe('whole');
  });

  it('comes as a copy below its like', () => {
    const id = plan.duplicate('b');
    expect([ids(), plan.find(id)]).toEqual([`a b ${id} c d`, { id, description: 'task b', tool_name: 'sh' }]);
  });
});

describe('undo and redo', () => {
  it('go back and forth through everything, and a change ends what could be done again', () => {
    plan.remove('a');
    plan.move('d', 1);
    plan.add([{ description: 'x' }, { description: 'y' }]);
    const last = ids();
    const steps = [last];
    while (plan.canUndo) {
      plan.undo();
      steps.push(ids());
    }
    expect(steps).toEqual([last, 'd b c', 'b c d', 'a b c d']);
    while (plan.canRedo) plan.redo();
    expect(ids()).toBe(last);
    plan.undo();
    plan.remove('b');
    expect(plan.canRedo).toBe(false);
    plan.redo();
    expect(ids()).toBe('d c');
  });

  it('do nothing where there is nothing', () => {
    plan.undo();
    plan.redo();
    expect(draft.touch).not.toHaveBeenCalled();
  });
});
