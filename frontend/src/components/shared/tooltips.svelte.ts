import { getContext, setContext } from 'svelte';

/** How long something is pointed at before its tooltip shows, in milliseconds. */
const delay = 500;

/** The one tooltip of a page or a dialog. */
export class Tooltips {
  /** What it stands at, and says; null while it is hidden. */
  shown = $state.raw<{ anchor: HTMLElement; text: string } | null>(null);
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(readonly id: string) {}

  show(anchor: HTMLElement, text: string): void {
    clearTimeout(this.#timer);
    this.shown = { anchor, text };
  }

  /** Shows it unless the pointer leaves before. */
  point(anchor: HTMLElement, text: string): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.show(anchor, text), delay);
  }

  hide(): void {
    clearTimeout(this.#timer);
    this.shown = null;
  }
}

const key = Symbol('tooltips');

/** Makes one tooltip serve everything below. */
export const provideTooltips = (id: string): Tooltips => setContext(key, new Tooltips(id));
export const useTooltips = (): Tooltips => getContext(key);
