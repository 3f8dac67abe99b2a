/**
 * A key as commands write it: 'j', 'Enter', '?', 'Mod+k', 'Mod+Shift+a', 'Alt+ArrowUp'. Mod is Command on a
 * Mac and Control elsewhere.
 */
export type Chord = string;

export interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** Whether a chord may be pressed while typing: only one with a modifier that types nothing, and not the field's own undo. */
export function worksWhileTyping(chord: Chord): boolean {
  return (chord.startsWith('Mod+') && chord !== 'Mod+z') || chord === 'Escape' || /^F\d+$/.test(chord);
}

export function matches(chord: Chord, event: Pressed, mac: boolean): boolean {
  const parts = chord.split('+');
  const last = parts.pop() ?? '';
  const key = last === 'Space' ? ' ' : last;
  const mod = parts.includes('Mod');
  const shift = parts.includes('Shift');
  if (parts.includes('Alt') !== event.altKey) return false;
  if (mod !== (mac ? event.metaKey : event.ctrlKey)) return false;
  if (mac ? event.ctrlKey : event.metaKey) return false;
  // A sign such as '?' needs Shift on most keyboards and not on all: what is typed counts, not how.
  const sign = key.length === 1 && !/[a-z0-9]/i.test(key);
  if (!sign && shift !== event.shiftKey) return false;
  return event.key.toLowerCase() === key.toLowerCase();
}

const macSigns: Record<string, string> = { Mod: '⌘', Alt: '⌥', Shift: '⇧', Enter: '↵', Escape: 'esc', ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', Backspace: '⌫' };
const signs: Record<string, string> = { Mod: 'Ctrl', Shift: '⇧', Enter: '↵', Escape: 'Esc', ArrowUp: '↑', ArrowDown: '↓', ArrowLeft: '←', ArrowRight: '→', Backspace: '⌫' };

/** A chord as it is printed on a key cap: 'Ctrl ⇧ A'. */
export function keyCap(chord: Chord, mac: boolean): string {
  const names = mac ? macSigns : signs;
  return chord
    .split('+')
    .map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(' ');
}

/** A chord in ARIA's spelling, for aria-keyshortcuts. */
export function ariaKey(chord: Chord, mac: boolean): string {
  return chord.replace('Mod', mac ? 'Meta' : 'Control');
}
