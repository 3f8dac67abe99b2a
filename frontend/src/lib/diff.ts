export interface DiffLine {
  kind: 'add' | 'del' | 'same' | 'hunk';
  old: number | null;
  new: number | null;
  text: string;
}

/** Reads a unified diff into numbered lines; file headers become hunk lines. */
export function parseDiff(text: string): DiffLine[] {
  const out: DiffLine[] = [];
  let old = 0;
  let now = 0;
  for (const line of text.replace(/\n$/, '').split('\n')) {
    const hunk = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/.exec(line);
    if (hunk) {
      old = Number(hunk[1]);
      now = Number(hunk[2]);
      out.push({ kind: 'hunk', old: null, new: null, text: line });
    } else if (/^(diff |index |--- |\+\+\+ )/.test(line)) {
      out.push({ kind: 'hunk', old: null, new: null, text: line });
    } else if (line.startsWith('+')) {
      out.push({ kind: 'add', old: null, new: now++, text: line.slice(1) });
    } else if (line.startsWith('-')) {
      out.push({ kind: 'del', old: old++, new: null, text: line.slice(1) });
    } else {
      out.push({ kind: 'same', old: old++, new: now++, text: line.replace(/^ /, '') });
    }
  }
  return out;
}
