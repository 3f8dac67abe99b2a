import type { Api } from '../backend/api';
import type { HitList } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** Where the palette looks. */
export const scopes = ['all', 'operations', 'recordings', 'findings', 'decisions', 'settings', 'commands'] as const;
export type Scope = (typeof scopes)[number];

const pause = 80;
/** Of each group, among all of them and alone. */
export const few = 2;
const many = 50;

/** What is looked for in the palette, and what the server has found of it. What the page knows itself is found where it is drawn. */
export class PaletteSearch {
  query = $state('');
  scope = $state<Scope>('all');
  /** What was found, and the text and the scope it was found for: it stays until the next is there. */
  found = $state.raw<{ words: string; scope: Scope; groups: HitList[] }>({ words: '', scope: 'all', groups: [] });
  searching = $state(false);
  trouble = $state('');
  #timer: ReturnType<typeof setTimeout> | undefined;
  #asked = 0;

  constructor(
    private readonly api: Api,
    /** Whether this session may search on the server. */
    private readonly may: boolean,
  ) {}

  /** Only commands are wanted. */
  readonly onlyCommands = $derived.by(() => this.query.startsWith('>'));
  readonly words = $derived.by(() => this.query.replace(/^>/, '').trim());

  type(query: string): void {
    this.query = query;
    this.#ask(pause);
  }

  /** The scope `step` further, around and around. */
  turn(step: number): void {
    this.choose(scopes[(scopes.indexOf(this.scope) + step + scopes.length) % scopes.length] ?? 'all');
  }

  choose(scope: Scope): void {
    this.scope = scope;
    this.#ask(0);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked++;
  }

  #ask(after: number): void {
    this.close();
    const { words, scope } = this;
    this.trouble = '';
    this.searching = this.may && !this.onlyCommands && !!words && scope !== 'settings' && scope !== 'commands';
    if (this.searching) this.#timer = setTimeout(() => void this.#find(words, scope), after);
    else this.found = { words: '', scope, groups: [] };
  }

  async #find(words: string, scope: Scope): Promise<void> {
    const asked = this.#asked;
    try {
      const groups = await this.api.find(words, scope === 'all' ? few : many, scope === 'all' ? '' : scope);
      if (asked === this.#asked) this.found = { words, scope, groups };
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error);
    } finally {
      if (asked === this.#asked) this.searching = false;
    }
  }
}

interface Recent {
  id: string;
  at: number;
}

const most = 20;

/** What an operator opened from the palette last, in this browser: ids of operations and nothing else, so that no text stays here. */
export class Recents {
  readonly #key: string;
  list = $state.raw<Recent[]>([]);

  constructor(operator: string) {
    this.#key = `deskbell.recent.${operator}`;
    try {
      const kept: unknown = JSON.parse(localStorage.getItem(this.#key) ?? '[]');
      if (Array.isArray(kept)) this.list = kept.filter((one: Partial<Recent>) => typeof one?.id === 'string' && typeof one.at === 'number').slice(0, most) as Recent[];
    } catch {
      // What cannot be read is begun anew.
    }
  }

  add(id: string, at: number): void {
    this.list = [{ id, at }, ...this.list.filter((one) => one.id !== id)].slice(0, most);
    try {
      localStorage.setItem(this.#key, JSON.stringify(this.list));
    } catch {
      // Without room it is forgotten with the page.
    }
  }
}
