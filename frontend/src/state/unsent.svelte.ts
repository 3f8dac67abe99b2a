import { SvelteMap } from 'svelte/reactivity';

const prefix = 'deskbell.unsent.';

/** Questions and messages typed to an agent and not sent. They outlive a reload; sending forgets them. */
export class Unsent {
  readonly #texts = new SvelteMap<string, string>();

  get(id: string): string {
    return this.#texts.get(id) ?? localStorage.getItem(prefix + id) ?? '';
  }

  set(id: string, text: string): void {
    this.#texts.set(id, text);
    if (text) localStorage.setItem(prefix + id, text);
    else localStorage.removeItem(prefix + id);
  }
}
