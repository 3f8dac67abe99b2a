import { language } from './locale.svelte';

/** Says the same in both languages: English, then Chinese. */
export function both<T>(say: () => T): [T, T] {
  language.locale = 'en';
  const en = say();
  language.locale = 'zh-CN';
  const zh = say();
  language.locale = 'en';
  return [en, zh];
}
