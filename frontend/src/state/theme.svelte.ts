export type ThemeChoice = 'system' | 'light' | 'dark';

const key = 'deskbell.theme';
const known = (word: string | null | undefined): ThemeChoice | null =>
  word === 'system' || word === 'light' || word === 'dark' ? word : null;

/** Light, dark, or as the system is. All colours follow the one property `color-scheme`. */
class Theme {
  choice = $state<ThemeChoice>(known(localStorage.getItem(key)) ?? 'system');

  choose(choice: ThemeChoice): void {
    this.choice = choice;
    localStorage.setItem(key, choice);
    this.apply();
  }

  /** Light where it is dark now, and the other way round. */
  toggle(): void {
    const dark = this.choice === 'dark' || (this.choice === 'system' && window.matchMedia('(prefers-color-scheme: dark)').matches);
    this.choose(dark ? 'light' : 'dark');
  }

  suggest(word: string | undefined): void {
    const choice = known(word);
    if (choice && localStorage.getItem(key) === null) this.choice = choice;
    this.apply();
  }

  apply(): void {
    document.documentElement.style.colorScheme = this.choice === 'system' ? 'light dark' : this.choice;
  }
}

export const theme = new Theme();
