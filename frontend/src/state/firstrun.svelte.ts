import type { AppState } from './app.svelte';

const key = 'deskbell.welcome';

/** The steps of the first run, in their order. */
export const steps = ['look', 'notifications', 'connect', 'proof', 'ring'] as const;
export type Step = (typeof steps)[number];

/** Where somebody stands in the first run. It survives the page, so that a reload goes on where it was. */
class FirstRun {
  at = $state(0);
  readonly step = $derived<Step>(steps[this.at] ?? 'look');

  next(): void {
    this.at = Math.min(this.at + 1, steps.length - 1);
  }

  back(): void {
    this.at = Math.max(this.at - 1, 0);
  }

  /** Ends it for this page and the next ones. It can be opened again by hand. */
  finish(): void {
    localStorage.setItem(key, 'done');
    this.at = 0;
  }

  /**
   * Whether it is to be shown unasked: nothing ever rang here, nobody has ended it, and the address asks for no
   * other page.
   */
  due(app: AppState): boolean {
    return app.operations.loaded && app.operations.all.size === 0 && localStorage.getItem(key) === null && window.location.hash === '';
  }
}

export const firstRun = new FirstRun();
