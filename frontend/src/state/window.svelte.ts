import { shell, type Broken, type DesktopState, type Placement, type WindowMode } from '../backend/shell';
import { keyGuard } from './guard';

export type { Broken };

const fromAddress = (): WindowMode => {
  const view = new URLSearchParams(window.location.search).get('view');
  return view === 'popup' || view === 'recorder' ? view : 'console';
};
/** Of the recorder's strip, in CSS pixels. */
const stripHeight = 44;
const shownKey = 'deskbell.told-no-notifications';

/** The window's sizes. In a browser it is what the address says and stays it. */
class AppWindow {
  readonly desktop = shell.desktop;
  mode = $state<WindowMode>(shell.desktop ? 'hidden' : fromAddress());
  placement = $state.raw<Placement | null>(null);
  /** What this desktop can do; null in a browser, and until it is known. */
  abilities = $state.raw<DesktopState | null>(null);
  /** Counts up each time somebody asks for the popup's keyboard. */
  keys = $state(0);
  /** Counts up when cards may have moved on the screen: a button may be under the pointer that was not before. */
  moved = $state(0);
  /** The operation or the page that somebody asked for outside the page, or null. */
  wanted = $state<string | null>(null);
  /** Whether no cards and no notifications are wanted now, and whether those of critical risk are all the same. */
  quiet = $state.raw({ on: false, critical: true });
  /** An answer from a notification that did not arrive. */
  failed = $state.raw<{ id: string; message: string } | null>(null);
  /** The report of how the last run ended unexpectedly, until the operator has closed the note. */
  crash = $state('');
  /** Why there is no session yet, while the database cannot be used. */
  broken = $state.raw<Broken | null>(null);
  /** How often the window has changed without the page asking, as far as the page has heard. */
  #turn = 0;
  /** Ends when the window has done what the page asked last. */
  #asked: Promise<unknown> = Promise.resolve();
  /** Whether the lack of notifications has been said already. */
  noNotificationsShown = $state(localStorage.getItem(shownKey) !== null);

  /** To be called once, before anything else: the window may speak first. */
  start(): void {
    shell.listen({
      mode: (mode, turn) => this.#turnTo(mode, turn),
      open: (id) => (this.wanted = id),
      keys: () => {
        keyGuard.taken();
        this.keys += 1;
      },
      quiet: (on, critical) => (this.quiet = { on, critical }),
      broken: () => void this.#look(),
      // Lines that broke meanwhile are made again at once.
      woke: () => window.dispatchEvent(new Event('online')),
      failed: (id, message) => (this.failed = { id, message }),
    });
    void this.#look();
    // Cards are drawn right from the first: what was once painted in a see-through window stays.
    void shell.session().then((session) => {
      this.placement ??= session?.popup ?? null;
      if (session?.quiet) this.quiet = { on: true, critical: session.quiet_critical === true };
      this.crash = session?.crash ?? '';
      if (session?.open) this.wanted ??= session.open;
      if (session?.mode) this.#turnTo(session.mode, session.turn ?? 0);
    }, () => undefined);
    void shell.state().then((state) => (this.abilities = state));
  }

  async #look(): Promise<void> {
    this.broken = await shell.broken();
  }

  /** Takes what the window has become without the page asking. */
  #turnTo(mode: WindowMode, turn: number): void {
    if (turn <= this.#turn) return;
    this.#turn = turn;
    this.mode = mode;
  }

  /** Whether a request of this risk is shown now, as a card or as a notification. */
  shows(risk: string | undefined): boolean {
    return !this.quiet.on || (this.quiet.critical && risk === 'critical');
  }

  /** One after the other: calls that are under way together may be carried out in any order, and a card would come up again after it went. */
  async #ask(mode: WindowMode, height = 0): Promise<void> {
    this.mode = mode;
    const turn = this.#turn;
    const asked = this.#asked.then(() => shell.mode(mode, height, turn));
    this.#asked = asked.catch(() => undefined);
    const placed = await asked;
    if (!placed) return;
    this.#turnTo(placed.mode, placed.turn);
    if (height > 0 && placed.mode === mode) this.placement = placed;
  }

  async popup(height: number): Promise<void> {
    if (this.desktop) await this.#ask('popup', height);
  }

  /** The strip that stays on top while something is recorded. The console stays where a window has no such size. */
  async recorder(): Promise<void> {
    if (!this.desktop) return;
    const before = this.mode;
    try {
      await this.#ask('recorder', stripHeight);
    } catch {
      this.mode = before;
    }
  }

  async console(): Promise<void> {
    await this.#ask('console');
  }

  async hide(): Promise<void> {
    if (this.desktop) await this.#ask('hidden');
  }

  /** Gives a popup the keyboard, which it does not take by itself. */
  focus(): void {
    if (this.mode === 'popup') void shell.focus();
  }

  hideNoNotifications(): void {
    this.noNotificationsShown = true;
    localStorage.setItem(shownKey, 'yes');
  }
}

export const appWindow = new AppWindow();
