import { loadPart } from '../lib/loading';
import { getLocale, type Locale } from '../paraglide/runtime';

type Messages = typeof import('../paraglide/messages').m;
type Message = (...inputs: unknown[]) => string;

const files: Record<Locale, () => Promise<Record<string, unknown>>> = {
  en: () => import('../paraglide/messages/en.js'),
  'zh-CN': () => import('../paraglide/messages/zh-CN.js'),
};
const loaded: Partial<Record<Locale, Record<string, unknown>>> = {};

/** Loads the messages of a language; nothing may be said in it before. */
export async function load(locale: Locale): Promise<void> {
  loaded[locale] ??= await loadPart(files[locale]);
}

/**
 * Every message, said in the language that is chosen when it is called. In the built page this stands in place of
 * paraglide's own index (vite.config.ts), which would bring every language.
 */
export const m = new Proxy({} as Record<string, Message>, {
  get: (said, name: string) => (said[name] ??= (...inputs) => (loaded[getLocale()]?.[name] as Message)(...inputs)),
}) as unknown as Messages;
