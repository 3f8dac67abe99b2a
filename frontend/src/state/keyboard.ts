/** What had the keyboard last. A control that is disabled while its call runs loses it, and so does one in a dialog that closes. */
let last: HTMLElement | undefined;

/** What the keyboard is to go back to: what has it, or had it until it was disabled. */
export const keyboardAt = (): HTMLElement | undefined =>
  document.activeElement instanceof HTMLElement && document.activeElement !== document.body ? document.activeElement : last;

/** Whether what had the keyboard went away with it. */
export const keyboardLost = (): boolean => document.activeElement === document.body && last?.isConnected === false;

/** Gives an element the keyboard: now, or once it can be used again. */
export function giveKeyboard(to: HTMLElement): void {
  last = to;
  to.focus();
}

/** Gives the keyboard back to a control that was disabled, unless it is somewhere else by then. To be called once. */
export function startKeyboard(): void {
  document.addEventListener('focusin', ({ target }) => {
    if (target instanceof HTMLElement) last = target;
  });
  new MutationObserver((changes) => {
    if (document.activeElement === document.body && changes.some(({ target }) => target.contains(last ?? null)) && !last?.matches(':disabled')) last?.focus();
  }).observe(document, { subtree: true, attributeFilter: ['disabled'] });
}
