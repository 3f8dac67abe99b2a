import type { HighlighterCore, LanguageInput, ThemeRegistrationRaw } from 'shiki/core';
import { SvelteMap } from 'svelte/reactivity';
import { side } from './change';

/** A piece of a line and the class that colours it; '' is plain. */
export type Coloured = readonly [text: string, look: string];

type Grammar = () => Promise<{ default: LanguageInput }>;
const grammars: Record<string, { of: string; load: Grammar }> = Object.fromEntries(([
  ['bash', 'sh bash zsh', () => import('shiki/langs/bash.mjs')],
  ['c', 'c h', () => import('shiki/langs/c.mjs')],
  ['cpp', 'cpp cc cxx hpp hh', () => import('shiki/langs/cpp.mjs')],
  ['csharp', 'cs', () => import('shiki/langs/csharp.mjs')],
  ['css', 'css', () => import('shiki/langs/css.mjs')],
  ['docker', 'dockerfile', () => import('shiki/langs/docker.mjs')],
  ['go', 'go', () => import('shiki/langs/go.mjs')],
  ['html', 'html htm', () => import('shiki/langs/html.mjs')],
  ['java', 'java', () => import('shiki/langs/java.mjs')],
  ['javascript', 'js mjs cjs jsx', () => import('shiki/langs/jsx.mjs')],
  ['json', 'json', () => import('shiki/langs/json.mjs')],
  ['kotlin', 'kt kts', () => import('shiki/langs/kotlin.mjs')],
  ['make', 'makefile mk', () => import('shiki/langs/make.mjs')],
  ['php', 'php', () => import('shiki/langs/php.mjs')],
  ['python', 'py pyi', () => import('shiki/langs/python.mjs')],
  ['ruby', 'rb', () => import('shiki/langs/ruby.mjs')],
  ['rust', 'rs', () => import('shiki/langs/rust.mjs')],
  ['sql', 'sql', () => import('shiki/langs/sql.mjs')],
  ['svelte', 'svelte', () => import('shiki/langs/svelte.mjs')],
  ['swift', 'swift', () => import('shiki/langs/swift.mjs')],
  ['toml', 'toml', () => import('shiki/langs/toml.mjs')],
  ['typescript', 'ts mts cts tsx', () => import('shiki/langs/tsx.mjs')],
  ['vue', 'vue', () => import('shiki/langs/vue.mjs')],
  ['xml', 'xml svg', () => import('shiki/langs/xml.mjs')],
  ['yaml', 'yaml yml', () => import('shiki/langs/yaml.mjs')],
] as [string, string, Grammar][]).flatMap(([name, endings, load]) => endings.split(' ').map((end) => [end, { of: name === 'javascript' ? 'jsx' : name === 'typescript' ? 'tsx' : name, load }])));

const grammarOf = (path: string): { of: string; load: Grammar } | undefined => grammars[/[^./\\]*$/.exec(path)?.[0].toLowerCase() ?? ''];

// A grammar's scopes come down to four looks. The colours only tell them apart; tokens.css has those that are seen.
const looks: Record<string, string> = { '#000001': 'co', '#000002': 'k', '#000003': 'st', '#000004': 'nu' };
const theme: ThemeRegistrationRaw = {
  name: 'deskbell',
  settings: [
    { settings: { foreground: '#000000', background: '#ffffff' } },
    { scope: ['comment', 'punctuation.definition.comment'], settings: { foreground: '#000001' } },
    { scope: ['keyword', 'storage', 'variable.language', 'entity.name.tag'], settings: { foreground: '#000002' } },
    { scope: ['keyword.operator', 'storage.type.function.arrow', 'punctuation'], settings: { foreground: '#000000' } },
    { scope: ['string', 'punctuation.definition.string'], settings: { foreground: '#000003' } },
    { scope: ['constant.numeric', 'constant.language'], settings: { foreground: '#000004' } },
  ],
};

/** Lines that are coloured at a time, so that scrolling never waits; and how long one may be. */
const slice = 60;
const longest = 400;
/** Slices that wait at a time. More than this are not on the screen at once: the rest was scrolled past. */
const waiting = 8;

let maker: Promise<HighlighterCore> | undefined;
async function highlighter(): Promise<HighlighterCore> {
  maker ??= Promise.all([import('shiki/core'), import('shiki/engine/javascript')]).then(([{ createHighlighterCore }, { createJavaScriptRegexEngine }]) =>
    createHighlighterCore({ themes: [theme], langs: [], engine: createJavaScriptRegexEngine({ forgiving: true }) }));
  return maker;
}

/** The colours of lines of code, a few lines at a time and as they are looked at; until then they are plain. */
export class Colours {
  #done = new SvelteMap<string, Coloured[][]>();
  #ids = new WeakMap<readonly string[], number>();
  #count = 0;
  #queue: { key: string; path: string; lines: readonly string[] }[] = [];
  #busy = false;
  #left = false;

  /** The pieces of a line of a chunk; undefined while they are not known. */
  of(path: string, chunk: readonly string[], at: number): Coloured[] | undefined {
    if (!grammarOf(path)) return undefined;
    let id = this.#ids.get(chunk);
    if (id === undefined) this.#ids.set(chunk, (id = ++this.#count));
    const from = Math.floor(at / slice) * slice;
    const key = `${id}:${from}`;
    const known = this.#done.get(key);
    if (!known && !this.#queue.some((one) => one.key === key)) {
      // What is looked at now comes before what was scrolled past.
      this.#queue.unshift({ key, path, lines: chunk.slice(from, from + slice) });
      this.#queue.length = Math.min(this.#queue.length, waiting);
      void this.#work();
    }
    return known?.[at - from];
  }

  close(): void {
    this.#left = true;
  }

  async #work(): Promise<void> {
    if (this.#busy) return;
    this.#busy = true;
    try {
      const shiki = await highlighter();
      for (let next = this.#queue[0]; next && !this.#left; next = this.#queue[0]) {
        await new Promise((turn) => setTimeout(turn));
        const grammar = grammarOf(next.path);
        if (grammar && !shiki.getLoadedLanguages().includes(grammar.of)) await shiki.loadLanguage((await grammar.load()).default);
        this.#done.set(next.key, grammar ? paint(shiki, grammar.of, next.lines) : []);
        this.#queue = this.#queue.filter(({ key }) => key !== next?.key);
      }
    } catch {
      // Without colours it is read as well.
      this.#queue = [];
    } finally {
      this.#busy = false;
    }
  }
}

/** The text before and after are each read by themselves, as a compiler would. */
function paint(shiki: HighlighterCore, lang: string, lines: readonly string[]): Coloured[][] {
  const all: Coloured[][] = lines.map(() => []);
  for (const one of ['old', 'new'] as const) {
    const places = lines.flatMap((line, at) => (side(line) === one || side(line) === 'both' ? [at] : []));
    if (one === 'old' && !lines.some((line) => side(line) === 'old')) continue;
    const text = places.map((at) => (lines[at] ?? '').slice(1, longest).replace(/\r$/, '')).join('\n');
    shiki.codeToTokensBase(text, { lang, theme: 'deskbell', tokenizeMaxLineLength: longest }).forEach((tokens, i) => {
      const at = places[i];
      if (at !== undefined) all[at] = tokens.map(({ content, color }) => [content, looks[color ?? ''] ?? ''] as const);
    });
  }
  return all.map((pieces, at) => ((lines[at] ?? '').length > longest ? [] : pieces));
}
