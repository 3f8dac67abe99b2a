import type { Problem } from '../backend/http';
import type { Said } from '../lib/wire';
import { getLocale } from '../paraglide/runtime';

/** The server's sentences in Chinese, by their codes; English comes with each of them. Read when it is first needed. */
let chinese = $state.raw<Readonly<Record<string, string>>>();

/** Reads the sentences. Without them every sentence stays English. */
export async function learn(): Promise<void> {
  chinese ??= (await import('../../messages/server/zh-CN.json')).default;
}

/** A sentence of the server's in the language of the page; as it was sent where it has no code, or one this page does not know. */
export function sentence({ code, params, text }: Said): string {
  if (getLocale() === 'en' || !code) return text;
  if (!chinese) {
    learn().catch(() => undefined);
    return text;
  }
  const known = (name: string | undefined): string | undefined => (name !== undefined && chinese && Object.hasOwn(chinese, name) ? chinese[name] : undefined);
  const thing = code.startsWith('does_') ? known(params?.thing) : undefined;
  return known(code)?.replace(/\{(\w+)\}/g, (_, name: string) => (name === 'what' && thing ? `：${thing}` : (params?.[name] ?? ''))) ?? text;
}

/** What was refused, as words to show. */
export function problemWords({ message, said }: Problem): string {
  return sentence({ ...said, text: message });
}

/** Several sentences; `text` where they were recorded before sentences had codes. */
export function sentences({ said, text }: { said?: readonly Said[]; text: string }): string {
  return getLocale() === 'en' || !said?.length ? text : said.map(sentence).join('');
}
