import type { ProceduresApi } from '../backend/procedures';
import { begin, obstacle, procedureOf, setState, type Edit, type RowState } from '../lib/procedure';
import type { LintFinding, ProcedureDraft, Risk, ShownProcedure } from '../lib/wire';
import type { AppState } from './app.svelte';
import { conflicts, proceduresOf } from './procedures.svelte';
import { errorText } from './sentences.svelte';

/** How long after a change the server is asked what the procedure does not cover, in milliseconds. */
const pause = 400;

/** What is kept of changes that were not saved. */
interface Kept {
  edit: Edit;
  after: number;
}

/** A procedure that is edited: of recordings, a version that there is, or one with what was done by hand in a run. */
export class Editing {
  edit = $state.raw<Edit>();
  findings = $state.raw<LintFinding[]>([]);
  risk = $state<Risk>();
  /** The version it was made from; 0 for a new procedure. */
  after = $state(0);
  selected = $state(0);
  /** The row whose step is open, or -1. */
  open = $state(-1);
  trouble = $state('');
  /** Why the server cannot read it as it is now. */
  unread = $state('');
  /** There is a newer version than the one it was made from. */
  conflict = $state(false);
  saving = $state(false);
  checking = $state(false);
  /** It differs from its version already: by what was done in a run. */
  corrects = $state(false);
  /** Changes of earlier were found. */
  restored = $state(false);
  note = $state('');
  #past = $state.raw<Edit[]>([]);
  #first: Edit | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #turn = 0;
  readonly #api: ProceduresApi;

  readonly procedure = $derived(this.edit && procedureOf(this.edit));
  readonly obstacle = $derived(this.edit && obstacle(this.edit, this.findings));
  readonly changed = $derived(this.#past.length > 0 || this.restored || this.corrects);
  readonly canSave = $derived(!!this.edit && !this.obstacle && !this.unread && !this.checking && !this.saving && !this.conflict && (this.changed || this.after === 0));

  constructor(
    private readonly app: AppState,
    private readonly of: { name: string } | { run: string } | { recordings: readonly string[] },
  ) {
    this.#api = proceduresOf(app);
  }

  get #key(): string {
    return `procedure ${'name' in this.of ? this.of.name : 'run' in this.of ? this.of.run : this.of.recordings.join(' ')}`;
  }

  async load(): Promise<void> {
    this.trouble = '';
    try {
      if ('name' in this.of) {
        const shown = await this.#api.get(this.of.name);
        this.#begin(begin(shown.procedure), shown, shown.version);
      } else {
        const draft = 'run' in this.of ? await this.#api.correction(this.of.run) : await this.#api.draft([...this.of.recordings]);
        this.#begin(begin(draft.procedure, draft.rows), draft, draft.after ?? 0);
        this.corrects = 'run' in this.of;
        this.selected = Math.max(0, draft.rows.findIndex(({ step }) => step && draft.changed?.includes(step)));
      }
    } catch (error) {
      this.trouble = errorText(error);
    }
  }

  #begin(edit: Edit, { findings, risk_level: risk }: Pick<ProcedureDraft | ShownProcedure, 'findings' | 'risk_level'>, after: number): void {
    Object.assign(this, { findings, risk, after });
    this.#first = edit;
    const kept = this.app.unsent.get(this.#key);
    this.edit = edit;
    if (!kept) return;
    const found = JSON.parse(kept) as Kept;
    this.edit = found.edit;
    this.after = found.after;
    this.restored = true;
    this.conflict = found.after !== after;
    this.#check();
  }

  /** Forgets all changes, and begins with what there is now. */
  async discard(): Promise<void> {
    this.app.unsent.set(this.#key, '');
    Object.assign(this, { restored: false, conflict: false, open: -1 });
    this.#past = [];
    await this.load();
  }

  change(how: (edit: Edit) => Edit): void {
    const { edit } = this;
    const next = edit && how(edit);
    if (!next || next === edit) return;
    this.#past = [...this.#past, edit];
    this.#put(next);
  }

  undo(): void {
    const last = this.#past.at(-1);
    if (!last) return;
    this.#past = this.#past.slice(0, -1);
    this.#put(last);
  }

  get canUndo(): boolean {
    return this.#past.length > 0;
  }

  #put(edit: Edit): void {
    this.edit = edit;
    this.app.unsent.set(this.#key, edit === this.#first ? '' : JSON.stringify({ edit, after: this.after } satisfies Kept));
    this.#check();
  }

  #check(): void {
    clearTimeout(this.#timer);
    this.checking = true;
    const turn = ++this.#turn;
    this.#timer = setTimeout(() => void this.#ask(turn), pause);
  }

  async #ask(turn: number): Promise<void> {
    const { procedure } = this;
    if (!procedure) return;
    try {
      const draft = await this.#api.check({ procedure });
      if (turn !== this.#turn) return;
      Object.assign(this, { findings: draft.findings, risk: draft.risk_level, unread: '' });
    } catch (error) {
      if (turn !== this.#turn) return;
      this.unread = errorText(error);
    }
    this.checking = false;
  }

  select(row: number): void {
    const last = (this.edit?.rows.length ?? 1) - 1;
    this.selected = Math.min(last, Math.max(0, row));
  }

  make(state: RowState): void {
    this.change((edit) => setState(edit, this.selected, state));
  }

  /** Saves the next version. Resolves to its name, or '' where it was not saved. */
  async save(): Promise<string> {
    const { procedure } = this;
    if (!procedure || !this.canSave) return '';
    this.saving = true;
    this.trouble = '';
    try {
      const shown = await this.#api.save({ procedure, after: this.after, note: this.note });
      this.app.unsent.set(this.#key, '');
      return shown.procedure.name;
    } catch (error) {
      this.trouble = errorText(error);
      // A new one is saved under another name; of one that is edited, the newer version is looked at first.
      this.conflict = conflicts(error) && this.after > 0;
      return '';
    } finally {
      this.saving = false;
    }
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#turn++;
  }
}
