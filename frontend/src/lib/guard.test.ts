import { describe, expect, it } from 'vitest';
import { KeyGuard } from './guard';

const key = (type: 'keydown' | 'keyup', name: string, more: object = {}) => ({
  type, key: name, code: name, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, isComposing: false, ...more,
});

function guarded(): { guard: KeyGuard; later: (ms: number) => void; press: (name: string, inField?: boolean, more?: object) => boolean; release: (name: string) => boolean } {
  let now = 1000;
  const guard = new KeyGuard(() => now);
  return {
    guard,
    later: (ms) => (now += ms),
    press: (name, inField = false, more = {}) => guard.drops(key('keydown', name, more), inField),
    release: (name) => guard.drops(key('keyup', name), false),
  };
}

describe('keys after the window got the keyboard', () => {
  it('answer nothing for half a second', () => {
    const { guard, later, press, release } = guarded();
    guard.taken();
    later(499);
    expect(['Enter', ' ', 'a', 'Tab'].map((name) => press(name))).toEqual([true, true, true, true]);
    expect(press('A', false, { ctrlKey: true, shiftKey: true })).toBe(true);
    ['Enter', ' ', 'a', 'A', 'Tab'].forEach(release);
    later(1);
    expect(['Enter', ' ', 'a'].map((name) => press(name))).toEqual([false, false, false]);
  });

  it('stay dead while they are held down', () => {
    const { guard, later, press, release } = guarded();
    guard.taken();
    expect(press('Enter')).toBe(true);
    later(2000);
    expect(press('Enter')).toBe(true);
    expect(press('a')).toBe(false);
    expect(release('Enter')).toBe(true);
    expect(press('Enter')).toBe(false);
    expect(release('Enter')).toBe(false);
  });

  it('write into a field, and send nothing from it', () => {
    const { guard, press } = guarded();
    guard.taken();
    expect(['n', 'ö', 'Backspace', 'ArrowLeft'].map((name) => press(name, true))).toEqual([false, false, false, false]);
    expect(press('Enter', true)).toBe(true);
    expect(press('Enter', true, { ctrlKey: true })).toBe(true);
    expect(press('Process', true, { isComposing: true })).toBe(false);
  });

  it('begin anew each time it gets it', () => {
    const { guard, later, press } = guarded();
    expect(press('a')).toBe(false);
    guard.taken();
    later(600);
    expect(press('b')).toBe(false);
    guard.taken();
    expect(press('c')).toBe(true);
  });
});
