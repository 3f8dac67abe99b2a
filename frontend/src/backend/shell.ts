/**
 * The one place that knows whether the page runs in the desktop window or in a browser. Everything else asks for
 * what it needs by name; in a browser the window's powers do nothing.
 */

import type { Archive, Said } from '../lib/wire';

/** `recorder` is a strip, always on top, that says that something is recorded. */
export type WindowMode = 'popup' | 'console' | 'hidden' | 'recorder';

/** A system notification to show. Its buttons answer the operation, or open it. */
export interface Notice {
  id: string;
  title: string;
  body: string;
  kind: string;
  risk: string;
  /** It was shown before, and nobody has seen it, or a run has stopped: it is shown as a new one, louder. */
  again?: boolean;
}

/** Where the server is and who the window's operator is. */
export interface WindowSession {
  url: string;
  token: string;
  locale?: string;
  theme?: string;
  operator: string;
  /** How a popup will stand, as far as it is known before it is placed: `pad` and `transparent`. */
  popup?: Placement;
  /** What the window is now: it may have been shown before the page listened. */
  mode?: WindowMode;
  /** How often the window had changed without the page asking. */
  turn?: number;
  /** What somebody asked for before the page listened: an operation or a page, or ''. */
  open?: string;
  /** No cards and no notifications are wanted now; `quiet_critical`: but those of critical risk. */
  quiet?: boolean;
  quiet_critical?: boolean;
  /** The report of how the last run ended unexpectedly. */
  crash?: string;
}

/** How the window stands after a change of mode. Cards are drawn `pad` pixels inside the window. */
export interface Placement {
  mode: WindowMode;
  width: number;
  height: number;
  pad: number;
  transparent: boolean;
  turn: number;
}

/** What this session of the desktop can do. */
export interface DesktopState {
  notifications: { answers: boolean; name: string; actions: boolean };
  window: { place: boolean; keep_above: boolean; no_focus: boolean; hotkey: boolean; transparent: boolean };
  tray: boolean;
}

/** Why the window has no session yet: its database cannot be used. */
export interface Broken {
  folder: string;
  found: Said[];
  /** The newest first. */
  backups: Archive[];
  locale: string;
  theme: string;
}

/** What a repair would do; or why that is not known, or why it failed. */
export interface Repaired {
  lines: Said[] | null;
  failed?: Said;
}

/** What the window tells the page by itself. */
export interface WindowEvents {
  /** The window changed without the page asking, for the turn-th time: closed, reopened. */
  mode(mode: WindowMode, turn: number): void;
  /** Somebody asked for this operation or page; the console is up already. */
  open(id: string): void;
  /** The popup has the keyboard now. */
  keys(): void;
  /** From now on no cards and no notifications are wanted, but, with `critical`, those of critical risk; or they are again. */
  quiet(on: boolean, critical: boolean): void;
  /** Why there is no session changed. */
  broken(): void;
  /** The machine has woken from sleep. */
  woke(): void;
  /** An answer given in a notification did not arrive. */
  failed(operationId: string, message: string): void;
}

interface Bound {
  Session(): Promise<WindowSession>;
  Mode(mode: WindowMode, height: number, turn: number): Promise<Placement>;
  Focus(): Promise<void>;
  Notify(notice: Notice): Promise<boolean>;
  Dismiss(id: string): Promise<void>;
  Desktop(): Promise<DesktopState>;
  PickFolder(): Promise<string>;
  Save(name: string, path: string): Promise<string>;
  Broken(): Promise<Broken | null>;
  Plan(): Promise<Repaired>;
  Repair(backup: string): Promise<Repaired>;
  OpenFolder(): Promise<void>;
  Quit(): Promise<void>;
}

interface Runtime {
  EventsOn(name: string, then: (...data: unknown[]) => void): () => void;
  BrowserOpenURL(url: string): void;
  ClipboardSetText(text: string): Promise<boolean>;
}

interface Host {
  go?: { main?: { App?: Bound } };
  runtime?: Runtime;
}

export interface Shell {
  readonly desktop: boolean;
  /** Null in a browser, where a person signs in with a code. */
  session(): Promise<WindowSession | null>;
  /**
   * Gives the window one of its sizes; height is that of what it shows, in CSS pixels, and counts for a popup and a recorder.
   * A window that has changed by itself since turn stays as it is, and the answer says how that is.
   */
  mode(mode: WindowMode, height: number, turn: number): Promise<Placement | null>;
  /** Gives the popup the keyboard, which it does not take by itself. */
  focus(): Promise<void>;
  /** False where nobody shows notifications. */
  notify(notice: Notice): Promise<boolean>;
  dismiss(id: string): Promise<void>;
  /** Null in a browser. */
  state(): Promise<DesktopState | null>;
  /** Listens to the window. Returns the undo. */
  listen(events: WindowEvents): () => void;
  /** Why there is no session yet; null where it is on its way. */
  broken(): Promise<Broken | null>;
  /** What a repair of the database would do. */
  plan(): Promise<Repaired>;
  /** Repairs the database, or restores the backup with this id. */
  repair(backup: string): Promise<Repaired>;
  openFolder(): Promise<void>;
  quit(): Promise<void>;
  copy(text: string): Promise<void>;
  /** Opens a link outside the app. */
  openLink(url: string): void;
  /** Asks for a folder; '' when none was picked. */
  pickFolder(): Promise<string>;
  /**
   * Saves what the API answers to GET `path` where the operator wants it. Returns the file's name, or '' when they
   * chose not to. @throws what `read` throws, which gets it in a browser, or an Error of the window.
   */
  save(name: string, path: string, read: () => Promise<{ bytes: Blob; name: string }>): Promise<string>;
}

/** Saves as browsers do: into the folder for downloads. */
function download(name: string, bytes: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(bytes);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function inWindow(app: Bound, runtime: Runtime | undefined): Shell {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  return {
    desktop: true,
    session: () => app.Session(),
    mode: (mode, height, turn) => app.Mode(mode, Math.ceil(height), turn),
    focus: () => app.Focus(),
    notify: (notice) => app.Notify(notice),
    dismiss: (id) => app.Dismiss(id),
    state: () => app.Desktop(),
    listen(events) {
      const undo = [
        runtime?.EventsOn('mode', (mode, turn) => events.mode(text(mode) as WindowMode, Number(turn))),
        runtime?.EventsOn('open', (id) => events.open(text(id))),
        runtime?.EventsOn('keys', () => events.keys()),
        runtime?.EventsOn('quiet', (on, critical) => events.quiet(on === true, critical === true)),
        runtime?.EventsOn('broken', () => events.broken()),
        runtime?.EventsOn('woke', () => events.woke()),
        runtime?.EventsOn('failed', (id, message) => events.failed(text(id), text(message))),
      ];
      return () => undo.forEach((off) => off?.());
    },
    copy: async (text) => void (await runtime?.ClipboardSetText(text)),
    openLink: (url) => runtime?.BrowserOpenURL(url),
    pickFolder: () => app.PickFolder(),
    broken: () => app.Broken(),
    plan: () => app.Plan(),
    repair: (backup) => app.Repair(backup),
    openFolder: () => app.OpenFolder(),
    quit: () => app.Quit(),
    save: (name, path) => app.Save(name, path),
  };
}

const inBrowser: Shell = {
  desktop: false,
  session: async () => null,
  mode: async () => null,
  focus: async () => undefined,
  notify: async () => false,
  dismiss: async () => undefined,
  state: async () => null,
  listen: () => () => undefined,
  copy: (text) => navigator.clipboard.writeText(text),
  openLink: (url) => void window.open(url, '_blank', 'noopener,noreferrer'),
  pickFolder: async () => '',
  broken: async () => null,
  plan: async () => ({ lines: null }),
  repair: async () => ({ lines: null }),
  openFolder: async () => undefined,
  quit: async () => undefined,
  async save(name, _path, read) {
    const found = await read();
    download(found.name || name, found.bytes);
    return found.name || name;
  },
};

const host = (typeof window === 'undefined' ? {} : window) as Host;

export const shell: Shell = host.go?.main?.App ? inWindow(host.go.main.App, host.runtime) : inBrowser;
