import { diffArrays } from 'diff';
import type { CodeComment } from '../../lib/wire';
import { side, type ChangedFile } from './change';

/** A line on one side: `chunk[at]` is it, with its sign. */
export interface Line {
  chunk: readonly string[];
  at: number;
  n: number;
  sign: '' | '+' | '-';
  /** The line that took its place, or that it took the place of. */
  other?: string;
}

/**
 * One row of the list. `old` and `new` are the same line where nothing changed; where only one is there, the other side is empty.
 * `part` is the hunk a row is of; of the unchanged lines before hunk n it is -1 - n.
 */
export type Row = { file: number } & (
  | { kind: 'file' }
  | { kind: 'load' }
  | { kind: 'fold'; gap: number; head: string; lines: number; open: boolean; can: boolean }
  | { kind: 'line'; part: number; old?: Line; new?: Line; change: boolean }
  | { kind: 'text'; chunk: readonly string[]; at: number }
  | { kind: 'note'; part: number; at: number; text: string }
  | { kind: 'comment'; index: number }
);

/** What a row stays known by while others come and go: the keyboard's place in it is kept. */
export function keyOf(row: Row): string {
  const within = (): (number | undefined)[] => {
    switch (row.kind) {
      case 'line': return [row.part, row.old?.at, row.new?.at];
      case 'note': return [row.part, row.at];
      case 'fold': return [row.gap];
      case 'text': return [row.at];
      case 'comment': return [row.index];
      default: return [];
    }
  };
  return [row.file, row.kind, ...within()].join(' ');
}

/** How a change is drawn now. */
export interface Drawing {
  split: boolean;
  /** Lines that differ only in blanks count as unchanged. */
  blanks: boolean;
  /** Files that show nothing but their head, and those that are drawn although they are large. */
  closed: ReadonlySet<number>;
  loaded: ReadonlySet<number>;
  /** Unchanged lines that are shown: `file:gap`. */
  open: ReadonlySet<string>;
  /** The whole text before, by the file. */
  texts: ReadonlyMap<number, readonly string[]>;
  comments: readonly CodeComment[];
}

/** Files with more changed lines than this are drawn when that is asked for. */
export const large = 12_000;

export const rowsOf = (files: readonly ChangedFile[], drawing: Drawing): Row[] => files.flatMap((file, i) => fileRows(file, i, drawing));

function fileRows(file: ChangedFile, index: number, drawing: Drawing): Row[] {
  const rows: Row[] = [{ kind: 'file', file: index }];
  if (drawing.closed.has(index)) return rows;
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  if ((file.binary && !lines) || (lines > large && !drawing.loaded.has(index))) return [...rows, { kind: 'load', file: index }];
  const comments = drawing.comments.map((comment, at) => ({ comment, at })).filter(({ comment }) => comment.file === file.path);
  const placed = new Set<number>();
  const after = new Map<string, number[]>();
  for (const { comment, at } of comments) {
    const key = `${comment.side} ${comment.end_line ?? comment.line}`;
    after.set(key, [...(after.get(key) ?? []), at]);
  }
  const put = (row: Row & { kind: 'line' }): void => {
    rows.push(row);
    if (!after.size) return;
    for (const [name, line] of [['old', row.old], ['new', row.new]] as const) {
      for (const at of (line && after.get(`${name} ${line.n}`)) ?? []) {
        if (placed.has(at)) continue;
        placed.add(at);
        rows.push({ kind: 'comment', file: index, index: at });
      }
    }
  };
  if (file.text) return [...rows, ...(file.hunks[0]?.lines ?? []).map((_, at): Row => ({ kind: 'text', file: index, chunk: file.hunks[0]?.lines ?? [], at }))];
  const text = drawing.texts.get(index);
  // Of a file that is new or gone there is nothing besides what changed.
  const can = file.status !== 'code' && (text !== undefined || !!file.blob) && file.status !== 'added' && file.status !== 'deleted';
  let end = { old: 1, new: 1 };
  const gap = (number: number, to: number | undefined, head: string): void => {
    const until = to ?? (text ? text.length + 1 : undefined);
    const count = until === undefined ? 0 : until - end.old;
    if (until !== undefined && count <= 0 && !head) return;
    if (until === undefined && !can) return;
    const open = drawing.open.has(`${index}:${number}`) && !!text;
    rows.push({ kind: 'fold', file: index, gap: number, head, lines: Math.max(count, 0), open, can: can && (until === undefined || count > 0) });
    if (!open || !text || until === undefined) return;
    const chunk = text.slice(end.old - 1, until - 1).map((line) => ` ${line}`);
    chunk.forEach((_, at) => put({ kind: 'line', file: index, part: -1 - number, change: false, old: { chunk, at, n: end.old + at, sign: '' }, new: { chunk, at, n: end.new + at, sign: '' } }));
  };
  file.hunks.forEach((hunk, number) => {
    if (file.status !== 'code') gap(number, hunk.old, hunk.head || (number ? ' ' : ''));
    end = hunkRows(hunk, index, number, drawing, put, (row) => rows.push(row));
  });
  if (file.hunks.length && file.status !== 'code') gap(file.hunks.length, undefined, '');
  const lost = comments.filter(({ at }) => !placed.has(at)).map(({ at }): Row => ({ kind: 'comment', file: index, index: at }));
  rows.splice(1, 0, ...lost);
  return rows;
}

const text = ({ chunk, at }: Line): string => (chunk[at] ?? '').slice(1);
const squeezed = (line: string): string => line.replace(/\s+/g, '');

/** A block of a change in parts: one with lines on both sides for each that differs only in blanks, the rest between them as it was. */
function parted(removed: Line[], added: Line[]): { removed: Line[]; added: Line[]; same: boolean }[] {
  let [old, fresh] = [0, 0];
  const parts: { removed: Line[]; added: Line[]; same: boolean }[] = [];
  for (const { count, removed: gone, added: come } of diffArrays(removed.map(text), added.map(text), { comparator: (a, b) => squeezed(a) === squeezed(b) })) {
    const [from, to] = [come ? 0 : count, gone ? 0 : count];
    const part = { removed: removed.slice(old, (old += from)), added: added.slice(fresh, (fresh += to)), same: !gone && !come };
    const last = parts.at(-1);
    if (last && !last.same && !part.same) {
      last.removed.push(...part.removed);
      last.added.push(...part.added);
    } else parts.push(part);
  }
  return parts;
}

function hunkRows(hunk: ChangedFile['hunks'][number], file: number, part: number, { split, blanks }: Drawing, put: (row: Row & { kind: 'line' }) => void, note: (row: Row) => void): { old: number; new: number } {
  const { lines: chunk } = hunk;
  let [old, fresh] = [hunk.old, hunk.new];
  for (let at = 0; at < chunk.length;) {
    const of = side(chunk[at] ?? '');
    if (of === 'note') note({ kind: 'note', file, part, at, text: (chunk[at++] ?? '').slice(2) });
    else if (of === 'both') {
      put({ kind: 'line', file, part, change: false, old: { chunk, at, n: old++, sign: '' }, new: { chunk, at, n: fresh++, sign: '' } });
      at++;
    } else {
      const removed: Line[] = [];
      const added: Line[] = [];
      const notes: number[] = [];
      for (; at < chunk.length && side(chunk[at] ?? '') !== 'both'; at++) {
        const is = side(chunk[at] ?? '');
        // What was removed after what was added is a change of its own.
        if (is === 'old' && added.length) break;
        if (is === 'note') notes.push(at);
        else if (is === 'old') removed.push({ chunk, at, n: old++, sign: '-' });
        else added.push({ chunk, at, n: fresh++, sign: '+' });
      }
      for (const block of blanks ? parted(removed, added) : [{ removed, added, same: false }]) blockRows(block, file, part, split, put);
      for (const at of notes) note({ kind: 'note', file, part, at, text: (chunk[at] ?? '').slice(2) });
    }
  }
  return { old, new: fresh };
}

function blockRows({ removed, added, same }: { removed: Line[]; added: Line[]; same: boolean }, file: number, part: number, split: boolean, put: (row: Row & { kind: 'line' }) => void): void {
  if (same) {
    added.forEach((line, i) => {
      const old = removed[i];
      put({ kind: 'line', file, part, change: false, old: old && { ...old, sign: '' }, new: { ...line, sign: '' } });
    });
    return;
  }
  removed.forEach((line, i) => {
    const other = added[i];
    if (!other) return;
    line.other = text(other);
    other.other = text(line);
  });
  if (split) for (let i = 0; i < Math.max(removed.length, added.length); i++) put({ kind: 'line', file, part, change: i === 0, old: removed[i], new: added[i] });
  else {
    removed.forEach((line, i) => put({ kind: 'line', file, part, change: i === 0, old: line }));
    added.forEach((line, i) => put({ kind: 'line', file, part, change: i === 0 && !removed.length, new: line }));
  }
}

/** A file or folder of the tree. */
export interface Node {
  name: string;
  path: string;
  /** Of a file its place in the change, else -1. */
  file: number;
  depth: number;
}

/** The files by their folders, line by line: a folder, then the files in it; those in none come last. */
export function treeOf(files: readonly { path: string }[]): Node[] {
  const folders = new Map<string, Node[]>();
  files.forEach(({ path }, file) => {
    const at = path.lastIndexOf('/');
    const folder = path.slice(0, Math.max(at, 0));
    const node = { name: path.slice(at + 1), path, file, depth: folder ? 1 : 0 };
    folders.set(folder, [...(folders.get(folder) ?? []), node]);
  });
  const named = [...folders.keys()].toSorted((a, b) => Number(!a) - Number(!b) || (a < b ? -1 : 1));
  return named.flatMap((folder) => [...(folder ? [{ name: folder, path: folder, file: -1, depth: 0 }] : []), ...(folders.get(folder) ?? [])]);
}
