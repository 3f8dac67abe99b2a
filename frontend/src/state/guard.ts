import { KeyGuard } from '../lib/guard';
import { typing } from './commands.svelte';

/** What keeps keys meant for another program from answering; one for the page, as there is one keyboard. */
export const keyGuard = new KeyGuard(() => performance.now());

/** Puts the guard before everything else that hears keys. To be called once. */
export function startKeyGuard(): void {
  const stand = (event: KeyboardEvent): void => {
    if (!keyGuard.drops(event, typing(event.target))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  window.addEventListener('keydown', stand, true);
  window.addEventListener('keyup', stand, true);
  window.addEventListener('focus', () => keyGuard.taken());
}
