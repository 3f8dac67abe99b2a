import { load } from './messages';
import { loadSentences } from './sentences.svelte';
import { overwriteGetLocale, overwriteSetLocale, locales, type Locale } from '../paraglide/runtime';

export type LanguageChoice = 'system' | Locale;

const key = 'deskbell.language';

function fromSystem(): Locale {
  return navigator.languages.some((tag) => tag.toLowerCase().startsWith('zh')) && !navigator.languages[0]?.toLowerCase().startsWith('en')
    ? 'zh-CN'
    : 'en';
}

const known = (word: string | null | undefined): LanguageChoice | null =>
  word === 'system' || locales.includes(word as Locale) ? (word as LanguageChoice) : null;

/** The language of the page. Messages read it, so that a change redraws every text at once. */
class Language {
  choice = $state<LanguageChoice>(known(localStorage.getItem(key)) ?? 'system');
  /** It follows the choice once its messages are loaded. */
  locale = $state<Locale>('en');

  choose(choice: LanguageChoice): Promise<void> {
    this.choice = choice;
    localStorage.setItem(key, choice);
    return this.apply();
  }

  /** What the window was set to, unless this page has a choice of its own. */
  suggest(word: string | undefined): Promise<void> {
    const choice = known(word);
    if (choice && localStorage.getItem(key) === null) this.choice = choice;
    return this.apply();
  }

  async apply(): Promise<void> {
    const { choice } = this;
    const locale = choice === 'system' ? fromSystem() : choice;
    // Without the server's sentences they are English; a page without them still works.
    await Promise.all([load(locale), locale === 'en' ? undefined : loadSentences().catch(() => undefined)]);
    if (choice !== this.choice) return;
    this.locale = locale;
    document.documentElement.lang = locale;
  }
}

export const language = new Language();

/** A day and a time of the operator's clock, with seconds where `exact`. */
export const dayAndTime = (at: string, exact = false): string =>
  new Intl.DateTimeFormat(language.locale, { dateStyle: 'medium', timeStyle: exact ? 'medium' : 'short', hourCycle: 'h23' }).format(new Date(at));
/** A day of the operator's calendar, without its year. */
export const dayOf = (at: string): string => new Intl.DateTimeFormat(language.locale, { day: 'numeric', month: 'long' }).format(new Date(at));
overwriteGetLocale(() => language.locale);
overwriteSetLocale((locale) => void language.choose(locale));
