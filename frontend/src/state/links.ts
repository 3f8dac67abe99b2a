import { shell } from '../backend/shell';

/** Puts a text into the system's clipboard. */
export function copy(text: string): Promise<void> {
  return shell.copy(text);
}

/** Asks for a folder, in the window; '' in a browser, and when none was picked. */
export function pickFolder(): Promise<string> {
  return shell.pickFolder();
}

/** Opens an address outside the app: in the system's browser, or in another tab. */
export function openLink(url: string): void {
  shell.openLink(url);
}
