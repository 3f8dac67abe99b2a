import { describe, expect, test, vi } from 'vitest';
import { Commands, type Command } from './commands.svelte';

const command = (over: Partial<Command> = {}): Command => ({ id: 'x', label: () => 'X', keys: ['a'], group: 'answer', when: () => true, run: vi.fn(), ...over });
const press = (key: string, over = {}): Parameters<Commands['press']>[0] => ({
  key, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, repeat: false, isComposing: false, defaultPrevented: false, target: null, preventDefault: vi.fn(), ...over,
});

describe('a key', () => {
  test('runs its command', () => {
    const c = command();
    const commands = new Commands();
    commands.add([c]);
    commands.press(press('a'));
    expect(c.run).toHaveBeenCalledOnce();
  });

  test('goes to the command added last', () => {
    const [below, above] = [command(), command()];
    const commands = new Commands();
    commands.add([below]);
    const undo = commands.add([above]);
    commands.press(press('a'));
    undo();
    commands.press(press('a'));
    expect([below.run, above.run].map((run) => vi.mocked(run).mock.calls.length)).toEqual([1, 1]);
  });

  test.each([
    ['while its command cannot be done', { when: () => false }, {}],
    ['while it is held down', {}, { repeat: true }],
    ['while a word is being composed', {}, { isComposing: true }],
    ['that somebody has taken already', {}, { defaultPrevented: true }],
  ])('does nothing %s', (_, over, event) => {
    const c = command(over);
    const commands = new Commands();
    commands.add([c]);
    commands.press(press('a', event));
    expect(c.run).not.toHaveBeenCalled();
  });

  test('does nothing while any dialog is open', () => {
    const c = command();
    const commands = new Commands();
    commands.add([c]);
    const close = [commands.pause(), commands.pause()];
    close[0]?.();
    close[0]?.();
    commands.press(press('a'));
    expect(c.run).not.toHaveBeenCalled();
    close[1]?.();
    commands.press(press('a'));
    expect(c.run).toHaveBeenCalledOnce();
  });

  test('held down goes on moving', () => {
    const c = command({ group: 'move', keys: ['j'] });
    const commands = new Commands();
    commands.add([c]);
    commands.press(press('j', { repeat: true }));
    expect(c.run).toHaveBeenCalledOnce();
  });
});

describe('commands of one name', () => {
  test('have ids of their own, and the last added is found by it', () => {
    const [inbox, focus] = [command({ id: 'back' }), command({ id: 'back' })];
    const commands = new Commands();
    commands.add([inbox, command({ id: 'open' })]);
    const undo = commands.add([focus]);
    const ids = commands.all.map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
    expect(commands.get('back')).toBe(focus);
    undo();
    expect(commands.get('back')).toBe(inbox);
    expect(commands.get('away')).toBeUndefined();
  });

  test('in one set are one command, the later', () => {
    const [early, late] = [command(), command()];
    const commands = new Commands();
    commands.add([early, late]);
    expect(commands.all).toHaveLength(1);
    expect(commands.get('x')).toBe(late);
  });
});
