import type { Page } from '@playwright/test';
import type { Server } from './server';

/** Why a window has no session, and what its repair would do. */
export interface Broken {
  found: { text: string; code?: string; params?: Record<string, string> }[];
  backups: unknown[];
  lines: { text: string; code?: string; params?: Record<string, string> }[];
  /** The backup that cannot be restored. */
  bad?: string;
}

/** A desktop window around the page: the same bound methods and events, kept in the page. */
export async function inWindow(server: Server, page: Page, broken: Broken | null = null): Promise<void> {
  await page.setViewportSize({ width: 448, height: 900 });
  await page.addInitScript(({ url, token, broken }) => {
    let repaired: (() => void) | undefined;
    const whole = broken ? new Promise<void>((resolve) => (repaired = resolve)) : Promise.resolve();
    localStorage.setItem('deskbell.welcome', 'done');
    const calls: unknown[][] = [];
    const listeners: Record<string, (...data: unknown[]) => void> = {};
    const note = (name: string, answer: unknown) => (...args: unknown[]) => {
      calls.push([name, ...args]);
      return Promise.resolve(answer);
    };
    Object.assign(window, {
      calls,
      emit: (name: string, ...data: unknown[]) => listeners[name]?.(...data),
      go: { main: { App: {
        Session: () => whole.then(() => ({ url, token, locale: '', theme: '', operator: 'mei', mode: broken ? 'console' : undefined, turn: 1 })),
        Broken: () => Promise.resolve(broken && { found: broken.found, backups: broken.backups, folder: '/home/mei/.local/share/deskbell', locale: '', theme: '' }),
        Plan: note('Plan', { lines: broken?.lines }),
        Repair: (backup: string) => {
          if (backup === broken?.bad) return note('Repair', { failed: { text: `the backup ${backup} is damaged` } })(backup);
          repaired?.();
          return note('Repair', { lines: null })(backup);
        },
        OpenFolder: note('OpenFolder', undefined),
        Quit: note('Quit', undefined),
        Mode: (mode: string, height: number) => note('Mode', { mode, width: 448, height, pad: 24, transparent: true })(mode, height),
        Focus: note('Focus', undefined),
        Notify: note('Notify', true),
        Dismiss: note('Dismiss', undefined),
        Desktop: note('Desktop', { notifications: { answers: true, name: 'x', actions: true }, window: { hotkey: true }, tray: true }),
      } } },
      runtime: { EventsOn: (name: string, then: (...data: unknown[]) => void) => ((listeners[name] = then), () => { listeners[name] = () => undefined; }), BrowserOpenURL: note('open', undefined) },
    });
  }, { url: server.url, token: server.operator.secret, broken });
  await page.goto(server.url);
}

/** What the page asked of the window. */
export const calls = (page: Page, name: string): Promise<unknown[][]> =>
  page.evaluate((n) => (window as unknown as { calls: unknown[][] }).calls.filter((call) => call[0] === n), name);
/** The window tells the page something. */
export const emit = (page: Page, name: string, ...data: unknown[]): Promise<void> =>
  page.evaluate(([n, ...d]) => (window as unknown as { emit: (...args: unknown[]) => void }).emit(n, ...d), [name, ...data] as unknown[]);
