import { shell } from '../backend/shell';

/** Opens an address outside the app: in the system's browser, or in another tab. */
export function openLink(url: string): void {
  shell.openLink(url);
}
