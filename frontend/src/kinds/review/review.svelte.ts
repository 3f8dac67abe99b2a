import { tick } from 'svelte';
import { SvelteMap, SvelteSet } from 'svelte/reactivity';
import { field, lines } from '../../lib/details';
import { dangerous, ended } from '../../lib/life';
import type { Answer, CodeChange, CodeComment, FocusResult } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { errorText } from '../../state/sentences.svelte';
import type { Controller } from '../kind';
import type { ChangedFile } from './change';
import type { Colours } from './colours.svelte';
import type { Line, Node, Row } from './rows';
import { suggestedVerdict } from './verdicts';

export type ReviewVerdict = 'approve' | 'request_changes' | 'comment';
type Side = CodeComment['side'];

/** Lines of a file that are chosen, on one side of it. */
export interface Chosen {
  file: number;
  side: Side;
  from: number;
  to: number;
}

/** Among the fields of a draft: the files that were read, which the agent does not get. */
const readField = 'read_files';

const sided: Record<Side, (row: Row & { kind: 'line' }) => Line | undefined> = { old: (row) => row.old, new: (row) => row.new };

/** Left out of an answer: comments that say nothing, and what was only noted for the draft. */
export function completed(answer: Answer): Answer {
  const { fields: noted = {}, comments, ...rest } = answer;
  const fields = Object.fromEntries(Object.entries(noted).filter(([name]) => name !== readField));
  const said = (comments ?? []).filter(({ text, suggestion }) => text.trim() || suggestion !== undefined);
  return { ...rest, ...(Object.keys(fields).length && { fields }), ...(said.length && { comments: said }) };
}

/** A change on the table: what is shown of it, what is chosen, and what is said of it. */
export class Review implements Controller {
  /** What reads and draws changes comes with the page. */
  tools = $state.raw<typeof import('./tools')>();
  colours: Colours | undefined;
  readonly closed = new SvelteSet<number>();
  readonly loaded = new SvelteSet<number>();
  readonly open = new SvelteSet<string>();
  readonly texts = new SvelteMap<number, readonly string[]>();
  read = $state.raw<CodeChange | undefined>();
  /** The same change as it has become since. */
  newer = $state.raw<CodeChange | undefined>();
  trouble = $state('');
  loading = $state(false);
  chosen = $state.raw<Chosen | undefined>();
  /** The comment that is being written. */
  writing = $state(-1);
  /** The last thing done, for who cannot see it. */
  said = $state('');
  /** Why the last try to answer was not even sent. */
  lack = $state<'' | 'words'>('');
  unified = $state(false);
  /** Changes of blanks alone are not shown as changes. */
  blanks = $state(false);
  /** It is scrolled faster than anybody reads. */
  hurried = $state(false);
  /** Brings a row into view. */
  show: ((row: number, far: boolean) => void) | undefined;

  /** Whether there is room for the tree and two texts beside each other; its page says. */
  wide = $state(true);
  readonly split = $derived.by<boolean>(() => this.wide && !this.unified);
  readonly areas = $derived.by<string[]>(() => (this.opened.op ? [...new Set(lines(field(this.opened.op, 'focus_areas')))] : []));
  readonly #sent = $derived.by<ChangedFile[]>(() => (this.opened.op && this.tools ? this.tools.changeOf(this.opened.op, this.read) : []));
  readonly tree = $derived.by<Node[]>(() => this.tools?.treeOf(this.#sent) ?? []);
  /** In the order of the tree. */
  readonly files = $derived.by<ChangedFile[]>(() => this.tree.flatMap(({ file }) => this.#sent[file] ?? []));
  readonly comments = $derived.by<CodeComment[]>(() => (this.opened.op && ended(this.opened.op) ? (this.opened.op.result?.comments ?? []) : this.opened.draft.form.comments));
  readonly rows = $derived.by<Row[]>(() => this.tools?.rowsOf(this.files, {
    split: this.split, blanks: this.blanks, closed: this.closed, loaded: this.loaded, open: this.open, comments: this.comments,
    texts: new Map(this.files.flatMap((file, i) => { const text = this.texts.get(i) ?? file.before?.split('\n'); return text ? [[i, text] as const] : []; })),
  }) ?? []);
  readonly focus = $derived.by<FocusResult[]>(() => (this.opened.op && ended(this.opened.op) ? (this.opened.op.result?.focus ?? []) : this.opened.draft.form.focus));
  readonly suggests = $derived.by<ReviewVerdict>(() => suggestedVerdict(this.areas.length, this.focus));
  readonly readFiles = $derived.by<Set<string>>(() => new Set(listOf(this.opened.draft.form.fields[readField])));

  constructor(private readonly opened: OpenOperation) {}

  use(tools: typeof import('./tools')): void {
    this.colours ??= new tools.Colours();
    this.tools = tools;
  }

  get editable(): boolean {
    return !!this.opened.op && !ended(this.opened.op) && this.opened.mine;
  }

  /** Reads the change from its repository, where it is there. */
  async load(): Promise<void> {
    const { op } = this.opened;
    if (!op || this.loading || field(op, 'git') === undefined) return;
    this.loading = true;
    try {
      const change = await this.opened.app.api.change(op.operation_id);
      if (!this.read) this.take(change);
      else this.newer = change.diff === this.read.diff ? undefined : change;
      this.trouble = '';
    } catch (error) {
      if (!this.read) this.trouble = errorText(error);
    } finally {
      this.loading = false;
    }
  }

  /** Shows a change as it is now; what was said of it stays. */
  take(change: CodeChange): void {
    this.read = change;
    this.newer = undefined;
    this.chosen = undefined;
    for (const set of [this.closed, this.loaded, this.open, this.texts]) set.clear();
    this.files.forEach((file, i) => { if (this.readFiles.has(file.path)) this.closed.add(i); });
  }

  close(): void {
    this.colours?.close();
  }

  /** Shows the unchanged lines of a gap, or hides them. */
  async unfold(file: number, gap: number): Promise<void> {
    const key = `${file}:${gap}`;
    if (this.open.delete(key)) return;
    const known = this.files[file];
    if (known?.before === undefined && !this.texts.has(file) && known?.blob) {
      try {
        this.texts.set(file, (await this.opened.app.api.changeText(this.opened.id, known.blob)).replace(/\n$/, '').split('\n'));
      } catch (error) {
        this.said = errorText(error);
        this.trouble = this.said;
        return;
      }
    }
    this.open.add(key);
  }

  /** Marks a file as read and folds it, or the other way round. */
  mark(file: number, read = !this.readFiles.has(this.files[file]?.path ?? '')): void {
    const path = this.files[file]?.path;
    if (path === undefined || !this.editable) return;
    const all = new Set(this.readFiles);
    if (read) all.add(path);
    else all.delete(path);
    this.opened.draft.form.fields[readField] = JSON.stringify([...all]);
    this.opened.draft.touch();
    if (read) this.closed.add(file);
    else this.closed.delete(file);
    this.said = read ? m.review_said_read({ file: path }) : m.review_said_unread({ file: path });
  }

  #place(chosen = this.chosen): number {
    if (!chosen) return -1;
    return this.rows.findIndex((row) => row.file === chosen.file && row.kind === 'line' && sided[chosen.side](row)?.n === chosen.to);
  }

  /** Chooses a line, or as far as one; the keyboard's place is there. */
  choose(file: number, on: Side, n: number, further = false): void {
    const was = this.chosen;
    this.chosen = further && was?.file === file && was.side === on ? { ...was, to: n } : { file, side: on, from: n, to: n };
  }

  #at(index: number, far: boolean, further = false): void {
    const row = this.rows[index];
    if (!row) return;
    this.show?.(index, far);
    if (row.kind !== 'line') {
      this.chosen = undefined;
      this.said = this.files[row.file]?.path ?? '';
      return;
    }
    const on: Side = further && this.chosen ? this.chosen.side : row.new ? 'new' : 'old';
    const line = sided[on](row);
    if (!line) return;
    this.choose(row.file, on, line.n, further);
    const text = (line.chunk[line.at] ?? '').slice(1);
    const at = { file: this.files[row.file]?.path ?? '', n: line.n, text };
    this.said = line.sign === '+' ? m.review_line_added(at) : line.sign === '-' ? m.review_line_removed(at) : m.review_line_same(at);
  }

  /** One line up or down, `further` chooses what lies between. */
  step(by: 1 | -1, further = false): void {
    for (let i = this.#place() + by; i >= 0 && i < this.rows.length; i += by) {
      const row = this.rows[i];
      if (row?.kind !== 'line') continue;
      if (further && this.chosen && (row.file !== this.chosen.file || !sided[this.chosen.side](row))) continue;
      this.#at(i, false, further);
      return;
    }
  }

  /** The other side of the same row. */
  cross(to: Side): void {
    const row = this.rows[this.#place()];
    if (row?.kind === 'line' && sided[to](row)) this.choose(row.file, to, sided[to](row)?.n ?? 1);
  }

  #next(by: 1 | -1, is: (row: Row) => boolean): void {
    const here = this.#place();
    const from = here >= 0 ? here : by > 0 ? this.rows.findIndex((row) => row.file === this.#file) - 1 : this.rows.length;
    for (let i = from + by; i >= 0 && i < this.rows.length; i += by) {
      const row = this.rows[i];
      if (row && is(row)) {
        this.#file = row.file;
        this.#at(i, true);
        return;
      }
    }
  }

  /** The file that was gone to last, where no line is chosen. */
  #file = 0;
  get here(): number {
    return this.chosen?.file ?? this.#file;
  }

  /** Goes to a file of the list. */
  go(file: number): void {
    this.#file = file;
    this.chosen = undefined;
    this.#at(this.rows.findIndex((row) => row.kind === 'file' && row.file === file), true);
  }

  goTo(index: number): void {
    const comment = this.comments[index];
    const file = this.files.findIndex(({ path }) => path === comment?.file);
    if (!comment || file < 0) return;
    this.closed.delete(file);
    this.chosen = { file, side: comment.side, from: comment.line, to: comment.end_line ?? comment.line };
    void tick().then(() => this.show?.(this.rows.findIndex((row) => row.kind === 'comment' && row.index === index), true));
  }

  /** Writes a comment on what is chosen, with a replacement for it or without. */
  comment(suggest = false): void {
    const { chosen } = this;
    const file = chosen && this.files[chosen.file];
    if (!chosen || !file || !this.editable || (suggest && chosen.side === 'old')) return;
    const [line, last] = [Math.min(chosen.from, chosen.to), Math.max(chosen.from, chosen.to)];
    const form = this.opened.draft.form;
    let index = form.comments.findIndex((c) => c.file === file.path && c.side === chosen.side && c.line === line && (c.end_line ?? c.line) === last);
    if (index < 0) index = form.comments.push({ file: file.path, line, ...(last > line && { end_line: last }), side: chosen.side, text: '' }) - 1;
    const comment = form.comments[index];
    if (suggest && comment && comment.suggestion === undefined) comment.suggestion = this.#text(chosen.file, line, last);
    this.opened.draft.touch();
    this.writing = index;
    this.lack = '';
    void tick().then(() => this.show?.(this.rows.findIndex((row) => row.kind === 'comment' && row.index === index), false));
  }

  /** The lines of the new text that are replaced. */
  #text(file: number, from: number, to: number): string {
    return this.rows.flatMap((row) => (row.file === file && row.kind === 'line' && row.new && row.new.n >= from && row.new.n <= to ? [(row.new.chunk[row.new.at] ?? '').slice(1).replace(/\r$/, '')] : [])).join('\n');
  }

  /** The lines a comment is about, as they are. */
  about({ file: path, line, end_line: last = line }: CodeComment): string {
    return this.#text(this.files.findIndex((file) => file.path === path), line, last);
  }

  /** Closes the comment that is written; one that says nothing is gone. */
  done(): void {
    const index = this.writing;
    const comment = this.opened.draft.form.comments[index];
    this.writing = -1;
    if (comment && !comment.text.trim() && comment.suggestion === undefined) this.remove(index);
    void this.opened.draft.save();
  }

  remove(index: number): void {
    this.opened.draft.form.comments.splice(index, 1);
    this.writing = -1;
    this.opened.draft.touch();
  }

  /** Says what was found of an area; the same once more takes it back. */
  judge(area: string, verdict: FocusResult['verdict']): void {
    const form = this.opened.draft.form;
    const was = form.focus.find((one) => one.area === area);
    if (was?.verdict === verdict) form.focus = form.focus.filter((one) => one !== was);
    else if (was) was.verdict = verdict;
    else form.focus.push({ area, verdict });
    this.opened.draft.touch();
  }

  /** Sends the review. What asks for changes, or is only a comment, has to say something. */
  async answer(verdict: ReviewVerdict): Promise<boolean> {
    const op = this.opened.op;
    if (!op) return false;
    if (this.writing >= 0) this.done();
    const answer = this.opened.answer(op);
    if (verdict !== 'approve' && !answer.human_input && !answer.comments?.length && !answer.focus?.some((one) => one.verdict === 'problem' || one.note)) {
      this.lack = 'words';
      this.opened.focus('answer');
      return false;
    }
    return this.opened.complete({ ...answer, verdict });
  }

  unsent(): string[] {
    return this.opened.draft.form.comments.map(({ file, line, text }) => `${file}:${line} ${text}`);
  }

  commands(): Command[] {
    const { opened } = this;
    const when = (): boolean => opened.ready && !opened.barred;
    const risky = !!opened.op && dangerous(opened.op);
    const has = (): boolean => this.rows.length > 0;
    const change = (row: Row): boolean => row.kind === 'line' && row.change;
    const names: Record<ReviewVerdict, () => string> = { approve: m.review_approve, request_changes: m.review_request, comment: m.review_comment_only };
    const sends = (id: string, verdict: ReviewVerdict, keys: string[]): Command => ({ id, label: names[verdict], keys, group: 'answer', when, run: () => void this.answer(verdict) });
    return [
      sends('review-approve', 'approve', risky ? ['Mod+Shift+a'] : ['a']),
      sends('review-request', 'request_changes', []),
      sends('review-only', 'comment', []),
      // A risky answer is never what one hits in a hurry.
      { id: 'review-send', label: () => names[this.suggests](), keys: ['Mod+Enter'], group: 'answer', when: () => when() && !(risky && this.suggests === 'approve'), run: () => void this.answer(this.suggests) },
      { id: 'review-next', label: m.review_next, keys: ['n'], group: 'move', when: has, run: () => this.#next(1, change) },
      { id: 'review-previous', label: m.review_previous, keys: ['p'], group: 'move', when: has, run: () => this.#next(-1, change) },
      { id: 'review-next-file', label: m.review_next_file, keys: [']'], group: 'move', when: () => this.here < this.files.length - 1, run: () => this.go(this.here + 1) },
      { id: 'review-previous-file', label: m.review_previous_file, keys: ['['], group: 'move', when: () => this.here > 0, run: () => this.go(this.here - 1) },
      { id: 'review-comment', label: m.review_write, keys: ['c'], group: 'answer', when: () => this.editable && !!this.chosen, run: () => this.comment() },
      { id: 'review-suggest', label: m.review_suggest, keys: ['g'], group: 'answer', when: () => this.editable && this.chosen?.side === 'new', run: () => this.comment(true) },
      { id: 'review-blanks', label: () => (this.blanks ? m.review_blanks_show() : m.review_blanks_hide()), keys: ['w'], group: 'move', when: has, run: () => (this.blanks = !this.blanks) },
      { id: 'review-read', label: m.review_mark, keys: ['v'], group: 'answer', when: () => this.editable && has(), run: () => this.mark(this.here) },
      ...opened.answers().filter(({ id }) => id === 'decline'),
    ];
  }
}

function listOf(text: string | undefined): string[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.filter((one) => typeof one === 'string') : [];
  } catch {
    return [];
  }
}

