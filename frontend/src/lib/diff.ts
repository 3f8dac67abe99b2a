import { parsePatch, type StructuredPatchHunk } from 'diff';

export interface DiffLine {
  /** `head` is what stands between and before the hunks; `note` says something of the line above it; `text` is not of a diff. */
  kind: 'add' | 'del' | 'same' | 'head' | 'note' | 'text';
  old: number | null;
  new: number | null;
  text: string;
}

const kinds: Record<string, DiffLine['kind']> = { '+': 'add', '-': 'del', '\\': 'note' };

/** The lines of a unified diff, numbered; a text that is not a well-formed one comes back line by line. */
export function parseDiff(text: string): DiffLine[] {
  const lines = text.replace(/\n$/, '').split('\n');
  const out: DiffLine[] = [];
  const plain = (kind: DiffLine['kind'], line: string): number => out.push({ kind, old: null, new: null, text: line });
  const hunks = wellFormed(text);
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? '';
    plain(hunks ? 'head' : 'text', line);
    // The parser leaves out what it has no use for, but it takes each line of this form for the head of a hunk.
    const hunk = /^@@\s/.test(line) && hunks?.shift();
    if (!hunk) continue;
    let { oldStart, newStart } = hunk;
    for (const inner of hunk.lines) {
      const kind = kinds[inner[0] ?? ''] ?? 'same';
      if (kind === 'note') plain(kind, inner);
      else out.push({ kind, old: kind === 'add' ? null : oldStart++, new: kind === 'del' ? null : newStart++, text: inner.slice(1) });
    }
    at += hunk.lines.length;
  }
  return out;
}

function wellFormed(text: string): StructuredPatchHunk[] | undefined {
  try {
    const hunks = parsePatch(text).flatMap((patch) => patch.hunks);
    return hunks.length && hunks.every(({ oldStart, newStart }) => oldStart >= 0 && newStart >= 0) ? hunks : undefined;
  } catch {
    return undefined;
  }
}
