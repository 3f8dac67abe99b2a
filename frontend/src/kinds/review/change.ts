import { parsePatch, structuredPatch, type StructuredPatch } from 'diff';
import { field, isObject, shape } from '../../lib/details';
import type { CodeChange, CodeComment, Json, JsonObject, Operation } from '../../lib/wire';

/** A piece of a file: each line with ' ', '+', '-' or '\' before it. */
export interface Hunk {
  old: number;
  new: number;
  head: string;
  lines: string[];
}

export type FileStatus = 'added' | 'deleted' | 'renamed' | 'copied' | 'changed' | 'code' | 'text' | 'named';

/** One file of a change. */
export interface ChangedFile {
  path: string;
  /** Where it was, '' where that is the same. */
  was: string;
  status: FileStatus;
  added: number;
  removed: number;
  binary: boolean;
  /** Its mode before and after, where that changed. */
  modes: string;
  hunks: Hunk[];
  /** Why it is drawn as text: it is a combined diff, or none that can be read. */
  text: '' | 'combined' | 'unread';
  /** The whole text before the change, or by which id the server knows it. */
  before?: string;
  blob: string;
  /** Whatever else was sent with it. */
  others: [string, Json][];
}

export const side = (line: string): 'both' | 'old' | 'new' | 'note' => (line[0] === '+' ? 'new' : line[0] === '-' ? 'old' : line[0] === '\\' ? 'note' : 'both');

const empty = (path: string, status: FileStatus): ChangedFile => ({ path, was: '', status, added: 0, removed: 0, binary: false, modes: '', hunks: [], text: '', blob: '', others: [] });

/** The files of a unified diff, as git or diff writes it. What cannot be read comes back as text; nothing is left out. */
export function filesOf(diff: string, name = ''): ChangedFile[] {
  // Within a hunk no line begins like this: each has a sign before it.
  return diff.split(/^(?=diff --(?:git|cc|combined) )/m).flatMap((part) => partOf(part, name));
}

function partOf(part: string, name: string): ChangedFile[] {
  if (!part.trim()) return [];
  const combined = /^diff --(?:cc|combined) (.*)/.exec(part);
  if (combined) return [asText(combined[1] ?? name, part, 'combined')];
  try {
    // A mail ends with a signature, which no hunk can: it has no sign.
    const parsed = parsePatch(part.replace(/\n-- \n\d[^\n]*\s*$/, '\n')).filter((patch) => patch.isGit || patch.hunks.length || patch.isBinary);
    const named = heads(part);
    const files = parsed.map((patch) => fileOf(patch, part, name, named));
    if (files.length) return files;
  } catch {
    // It is drawn as it was sent.
  }
  return [asText(/^diff --git (.*)/.exec(part)?.[1] ?? name, part, 'unread')];
}

function asText(path: string, text: string, why: 'combined' | 'unread'): ChangedFile {
  return { ...empty(path, 'text'), text: why, hunks: [{ old: 0, new: 0, head: '', lines: linesOf(text).map((line) => ` ${line}`) }] };
}

const linesOf = (text: string): string[] => text.replace(/\n$/, '').split('\n');

function fileOf(patch: StructuredPatch, part: string, name: string, named: string[]): ChangedFile {
  // Without prefixes, the two names that git begins with are the same.
  const both = /^diff --git (.*)$/m.exec(part)?.[1] ?? '';
  const alike = both !== '' && both.slice(0, (both.length - 1) / 2) === both.slice((both.length + 1) / 2);
  const prefixed = !alike && [patch.oldFileName, patch.newFileName].every((file) => !file || file === '/dev/null' || /^[abciow12]\//.test(file));
  const bare = (file: string | undefined): string => (file && file !== '/dev/null' ? (prefixed ? file.slice(2) : file) : '');
  const [was, is] = [bare(patch.oldFileName), bare(patch.newFileName)];
  const file = empty(is || was || name, 'changed');
  if (was && is && was !== is) file.was = was;
  if (patch.isCreate || patch.oldFileName === '/dev/null') file.status = 'added';
  else if (patch.isDelete || patch.newFileName === '/dev/null') file.status = 'deleted';
  else if (patch.isCopy) file.status = 'copied';
  else if (patch.isRename) file.status = 'renamed';
  file.binary = !!patch.isBinary || /^(?:Binary files .* differ|GIT binary patch)$/m.test(part) && !patch.hunks.length;
  if (patch.oldMode && patch.newMode && patch.oldMode !== patch.newMode) file.modes = `${patch.oldMode} → ${patch.newMode}`;
  const blob = /^index ([0-9a-f]{40}|[0-9a-f]{64})\.\./m.exec(part)?.[1] ?? '';
  if (blob && !/^0+$/.test(blob)) file.blob = blob;
  return withHunks(file, patch, named);
}

/** What stands after the second @@ of each hunk: where it is, in the words of the language. */
const heads = (part: string): string[] => [...part.matchAll(/^@@ -\S+ \+\S+ @@ ?(.*)$/gm)].map(([, head]) => head ?? '');

function withHunks(file: ChangedFile, patch: StructuredPatch, named: string[] = []): ChangedFile {
  for (const hunk of patch.hunks) {
    file.hunks.push({ old: hunk.oldStart, new: hunk.newStart, head: named.shift() ?? '', lines: hunk.lines });
    for (const line of hunk.lines) {
      const of = side(line);
      if (of === 'new') file.added++;
      else if (of === 'old') file.removed++;
    }
  }
  return file;
}

/** How long two texts are compared at most, in milliseconds: after that all of one is shown as removed and all of the other as added. */
const patience = 1500;

/** A file by its text before and after. */
export function compared(path: string, before: string, after: string): ChangedFile {
  const file = empty(path, before === '' ? 'added' : after === '' ? 'deleted' : 'changed');
  file.before = before;
  const patch = structuredPatch(path, path, before, after, '', '', { context: 3, timeout: patience });
  if (patch) return withHunks(file, patch);
  const [was, is] = [linesOf(before), linesOf(after)];
  file.hunks = [{ old: 1, new: 1, head: '', lines: [...was.map((line) => `-${line}`), ...is.map((line) => `+${line}`)] }];
  return { ...file, removed: was.length, added: is.length };
}

/** Code that was sent without a change: it is read and commented on as it is. */
function code(path: string, text: string): ChangedFile {
  return { ...empty(path, 'code'), before: text, hunks: [{ old: 1, new: 1, head: '', lines: linesOf(text).map((line) => ` ${line}`) }] };
}

const names = {
  path: ['path', 'file_path', 'file', 'filename', 'name'],
  diff: ['diff', 'patch'],
  before: ['before', 'old', 'original', 'old_text', 'old_content'],
  after: ['after', 'new', 'modified', 'new_text', 'new_content'],
  code: ['code_snippet', 'snippet', 'code', 'content'],
};

/** One of details.files: a path, or an object with one and what changed in it. */
function sentFile(item: Json): ChangedFile[] {
  if (!isObject(item)) return [empty(String(item), 'named')];
  const used = new Set<string>();
  const text = (of: keyof typeof names): string | undefined => {
    const key = names[of].find((one) => typeof item[one] === 'string');
    if (key) used.add(key);
    return key ? String(item[key]) : undefined;
  };
  const path = text('path') ?? '';
  const diff = text('diff');
  let files: ChangedFile[];
  if (diff !== undefined) files = filesOf(diff, path);
  else {
    const [before, after, snippet] = [text('before'), text('after'), text('code')];
    files = before !== undefined || after !== undefined ? [compared(path, before ?? '', after ?? '')] : snippet !== undefined ? [code(path, snippet)] : [empty(path, 'named')];
  }
  const [first = empty(path, 'named'), ...more] = files;
  return [{ ...first, others: Object.entries(item as JsonObject).filter(([key]) => !used.has(key)) }, ...more];
}

/** All files of a review, in whichever form they were sent. */
export function changeOf(op: Pick<Operation, 'action_type' | 'details'>, read?: CodeChange): ChangedFile[] {
  const string = (name: string): string | undefined => {
    const value = field(op, name);
    return typeof value === 'string' ? value : undefined;
  };
  const path = string('file_path') ?? '';
  const [diff, before, after, snippet] = [string('diff'), string('before'), string('after'), string('code_snippet')];
  const files = field(op, 'files');
  const all = [
    ...(read ? filesOf(read.diff) : []),
    ...(diff === undefined ? [] : filesOf(diff, path)),
    ...(before === undefined && after === undefined ? [] : [compared(path, before ?? '', after ?? '')]),
    ...(Array.isArray(files) ? files.flatMap(sentFile) : isObject(files) ? Object.entries(files).flatMap(([name, value]) => sentFile(isObject(value) ? { path: name, ...value } : { path: name, diff: value })) : []),
    ...(snippet === undefined ? [] : shape(snippet).as === 'diff' ? filesOf(snippet, path) : [code(path, snippet)]),
  ];
  return all;
}

/** The text of a file after the comments' suggestions: each replaces its lines. Later ones first, so that lines keep their numbers. */
export function suggested(text: string, comments: readonly CodeComment[]): string {
  const end = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = text.split('\n');
  const last = lines.at(-1) === '' ? lines.pop() : undefined;
  for (const { line, end_line: to, suggestion } of comments.filter((c) => c.suggestion !== undefined && c.side === 'new').toSorted((a, b) => b.line - a.line)) {
    const fresh = suggestion === '' ? [] : (suggestion ?? '').replace(/\n$/, '').split('\n').map((one) => (end === '\r\n' ? `${one.replace(/\r$/, '')}\r` : one));
    lines.splice(line - 1, (to ?? line) - line + 1, ...fresh);
  }
  if (last !== undefined && lines.length) lines.push(last);
  return lines.join('\n');
}
