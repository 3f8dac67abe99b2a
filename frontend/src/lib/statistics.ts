/** Kinds that are drawn in one shade: yes or no, plans, words, and what takes hands. */
export type Shade = 'approve' | 'plan' | 'words' | 'hands';
export const shades: readonly Shade[] = ['approve', 'plan', 'words', 'hands'];

/** Which requests statistics are counted over, or a list has: the parameters of both calls. */
export interface Counted {
  action_type?: string;
  agent_id?: string;
  project?: string;
  risk?: string;
  end?: string;
  from?: string;
  to?: string;
  hour?: number;
  zone?: string;
}

/** In place of a project or a risk: requests that name none. */
export const none = '-';

export const zone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC';

/** Midnight of a day as the server names it, and of the day after, on the operator's clock. */
export function dayOf(date: string): { from: Date; to: Date } {
  const [y = 0, mon = 1, d = 1] = date.split('-').map(Number);
  return { from: new Date(y, mon - 1, d), to: new Date(y, mon - 1, d + 1) };
}

/** A top of an axis that is easy to read, and the lines under it. */
export function axis(most: number): { top: number; lines: number[] } {
  const top = [4, 6, 10, 15, 20, 40, 60].flatMap((n) => [n, n * 10, n * 100, n * 1000, n * 10_000]).sort((a, b) => a - b).find((n) => n >= most) ?? most;
  return { top, lines: top % 3 === 0 ? [0, top / 3, (top / 3) * 2, top] : [0, top / 2, top] };
}

/** Which of five shades a cell has: 0 for none, and the darkest for the most. */
export function depth(n: number, most: number): number {
  return n ? Math.max(1, Math.ceil((n / most) * 4)) : 0;
}

/** A table as text that spreadsheets take from the clipboard. */
export function tabbed(rows: (string | number)[][]): string {
  return rows.map((row) => row.map((cell) => String(cell).replace(/[\t\r\n]+/g, ' ').replace(/^[=+\-@＝＋－＠]/u, "'$&")).join('\t')).join('\n');
}

/** The room that the words beside an axis need, in pixels: a sign of Chinese takes as much as two letters. */
export const gutter = (words: readonly string[]): number => 10 + Math.max(...words.map((word) => [...word].reduce((sum, char) => sum + (char > '\u2e7f' ? 11 : 6.5), 0)));
