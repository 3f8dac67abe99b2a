import { describe, expect, test } from 'vitest';
import { keyCap, matches, worksWhileTyping } from './keys';

const press = (key: string, mods = ''): Parameters<typeof matches>[1] => ({
  key, ctrlKey: mods.includes('c'), metaKey: mods.includes('m'), altKey: mods.includes('a'), shiftKey: mods.includes('s'),
});

describe('a chord', () => {
  test.each([
    ['a letter', 'a', press('a'), false, true],
    ['a letter with Shift is another key', 'a', press('A', 's'), false, false],
    ['a letter with Control is another key', 'a', press('a', 'c'), false, false],
    ['a letter with Alt is another key', 'a', press('a', 'a'), false, false],
    ['a chord may ask for Alt', 'Alt+ArrowUp', press('ArrowUp', 'a'), false, true],
    ['an arrow without Alt is another key', 'Alt+ArrowUp', press('ArrowUp'), false, false],
    ['a sign counts however it is typed', '?', press('?', 's'), false, true],
    ['Mod is Control here', 'Mod+Shift+a', press('A', 'cs'), false, true],
    ['Mod is not Control on a Mac', 'Mod+Shift+a', press('A', 'cs'), true, false],
    ['Mod is Command on a Mac', 'Mod+Shift+a', press('a', 'ms'), true, true],
    ['a chord needs all its keys', 'Mod+Shift+a', press('a', 'c'), false, false],
  ])('%s', (_, chord, event, mac, want) => expect(matches(chord, event, mac)).toBe(want));
});

test('only what types nothing works while typing, and a field undoes for itself', () => {
  expect(['a', '?', 'Enter', 'Mod+Enter', 'Escape', 'Mod+z'].filter(worksWhileTyping)).toEqual(['Mod+Enter', 'Escape']);
});

test('key caps are printed as on the keyboard', () => {
  expect(keyCap('Mod+Shift+a', false)).toBe('Ctrl ⇧ A');
  expect(keyCap('Mod+Enter', true)).toBe('⌘ ↵');
});
