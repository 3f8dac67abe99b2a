import { Problem } from '../backend/http';
import type { Said } from '../lib/wire';
import { m } from '../paraglide/messages';
import { getLocale } from '../paraglide/runtime';

/** The server's sentences in Chinese, by their codes; English comes with each of them. Read when it is first needed. */
let chinese = $state.raw<Readonly<Record<string, string>>>();

/** Reads the sentences. Without them every sentence stays English. */
export async function loadSentences(): Promise<void> {
  chinese ??= (await import('../../messages/server/zh-CN.json')).default;
}

/** A sentence of the server's in the language of the page; as it was sent where it has no code, or one this page does not know. */
export function sentence({ code, params, text }: Said): string {
  if (getLocale() === 'en' || !code) return text;
  if (!chinese) {
    loadSentences().catch(() => undefined);
    return text;
  }
  return said(code, params ?? {}) ?? text;
}

function known(code: string | undefined): string | undefined {
  return code !== undefined && chinese && Object.hasOwn(chinese, code) ? chinese[code] : undefined;
}

/** The sentence of a code, whose parameters' names begin with `within`. A parameter may be a sentence or a word that has a code itself. */
function said(code: string | undefined, params: Readonly<Record<string, string>>, within = ''): string | undefined {
  const thing = code?.startsWith('does_') ? known(params.thing) : undefined;
  return known(code)?.replace(/\{(\w+)\}/g, (_, name: string) => {
    if (name === 'what' && thing) return `：${thing}`;
    const place = within + name;
    const inner = said(params[`${place}.code`], params, `${place}.`);
    const value = params[place] ?? '';
    if (inner === undefined) return moment.test(value) ? new Date(value).toLocaleString(getLocale(), { dateStyle: 'medium', timeStyle: 'short' }) : value;
    return named(params[`${place}.field`], inner);
  });
}

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** What the forms call the request's fields. */
const labels: Readonly<Record<string, () => string>> = {
  human_input: m.answer_title, reason: m.reason, attach: m.browser_attach, until: m.gate_col_until,
};

/** A sentence about a field of the request, by the field's label; without one, by its name. */
function named(field: string | undefined, words: string): string {
  if (!field) return words;
  const name = labels[field]?.() ?? `“${field}”`;
  if (getLocale() !== 'en') return `${name}：${words}`;
  return /^(is|are|has|must|does|would|begins|cannot) /.test(words) ? `${name} ${words}` : `${name}: ${words}`;
}

/** What was refused, as words to show. Words that stand beside the field at fault do not name it. */
export function problemWords({ message, field, said }: Problem, where: 'anywhere' | 'beside' = 'anywhere'): string {
  const about = field !== '' && message.startsWith(`${field}: `);
  const words = sentence({ ...said, text: about ? message.slice(field.length + 2) : message });
  if (!about) return words;
  return where === 'beside' ? words.charAt(0).toUpperCase() + words.slice(1) : named(field, words);
}

/** Several sentences; `text` where they were recorded before sentences had codes. */
export function sentences({ said, text }: { said?: readonly Said[]; text: string }): string {
  return getLocale() === 'en' || !said?.length ? text : said.map(sentence).join('');
}

/** What went wrong, as words to show: anywhere, or beside the field at fault. */
export function errorText(error: unknown, where?: 'beside'): string {
  if (!(error instanceof Problem)) return String(error);
  return error.offline ? m.no_answer() : problemWords(error, where);
}
