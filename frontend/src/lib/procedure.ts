import type { LintFinding, Procedure, ProcedureCheckpoint, ProcedureStep, Said, TaughtRow } from './wire';

/** What becomes of a step when recordings are brought together. */
export type RowState = TaughtRow['state'];

/** One row of the editor: a step, or what was left out of the procedure. */
export interface Row {
  /** Absent where only the recordings have it. */
  step?: ProcedureStep;
  out: boolean;
  /** For each recording the action it came from; '' where it has none. */
  from: string[];
  why?: Said;
}

/** A procedure while it is edited. It is never changed in place: each change makes another one. */
export interface Edit {
  head: Omit<Procedure, 'steps'>;
  rows: Row[];
}

const places = /\{\{|\}\}|\{([a-z][a-z0-9_]*)\}/g;

/** A part of a text of a procedure: words as they are meant, or the name of a parameter. */
export type Piece = { text: string; name?: undefined } | { name: string };

/** The parts of a text: a brace that is meant as one stands twice in it. */
export function pieces(text: string): Piece[] {
  const found: Piece[] = [];
  let plain = '';
  let at = 0;
  for (const match of text.matchAll(places)) {
    plain += text.slice(at, match.index);
    at = match.index + match[0].length;
    if (match[1] === undefined) plain += match[0].charAt(0);
    else {
      if (plain) found.push({ text: plain });
      plain = '';
      found.push({ name: match[1] });
    }
  }
  plain += text.slice(at);
  return plain ? [...found, { text: plain }] : found;
}

/** A text with the values of parameters in their places. */
export const filled = (text: string, values: Readonly<Record<string, string>>): string =>
  pieces(text).map((piece) => (piece.name === undefined ? piece.text : (values[piece.name] ?? `{${piece.name}}`))).join('');

const escaped = (value: string): string => value.replace(/[{}]/g, '$&$&');

/** The same value with every text in it changed. */
function mapped<T>(value: T, change: (text: string) => string): T {
  if (typeof value === 'string') return change(value) as T;
  if (Array.isArray(value)) return value.map((one: unknown) => mapped(one, change)) as T;
  if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, mapped(one as unknown, change)])) as T;
  return value;
}

/** Its texts in which parameters may stand: what it is called and where it came from are no such texts. */
function inTexts(step: ProcedureStep, change: (text: string) => string): ProcedureStep {
  const { id, from, do: does, output, secret, ...texts } = step;
  return { ...mapped(texts, change), id, do: does, ...(from && { from }), ...(output && { output }), ...(secret && { secret }) };
}

function namesIn(value: unknown): Set<string> {
  const names = new Set<string>();
  mapped(value, (text) => {
    for (const piece of pieces(text)) if (piece.name !== undefined) names.add(piece.name);
    return text;
  });
  return names;
}

/** The parameters of a step. */
export const parametersOf = (step: ProcedureStep): string[] => {
  return [...namesIn({ ...step, from: [] })];
};

/** A step without the words around it, which are no part of what is done. */
const wordless = ({ says: _, ...step }: ProcedureStep): ProcedureStep => step;

/** An edit of a procedure. `rows` say how recordings were brought together; without them it is edited as it is. */
export function begin({ steps, ...head }: Procedure, rows: readonly TaughtRow[] = []): Edit {
  const taught = (head.taught ?? []).map(({ recording_id: id }) => id);
  const bare = (step: ProcedureStep): Row => ({ step, out: false, from: taught.map((id) => step.from?.find((one) => one.recording_id === id)?.action_id ?? '') });
  const left = new Map(steps.map((step) => [step.id, step]));
  const known = rows.flatMap((row): Row[] => {
    const step = row.step === undefined ? undefined : left.get(row.step);
    if (step) left.delete(step.id);
    return step || row.state === 'left_out' ? [{ step, out: row.state === 'left_out', from: row.from, why: row.why }] : [];
  });
  return { head, rows: [...known, ...[...left.values()].map(bare)] };
}

const secretIn = (value: unknown): Set<string> => {
  const names = new Set<string>();
  mapped(value, (text) => {
    if (text.startsWith('SECRET:')) names.add(text.slice(7));
    return text;
  });
  return names;
};

/** The procedure that an edit makes. What only steps used that are left out is left out with them. */
export function procedureOf({ head, rows }: Edit): Procedure {
  const steps = rows.flatMap(({ step, out }) => (step && !out ? [step] : []));
  const gone = rows.flatMap(({ step, out }) => (step && out ? [step] : []));
  if (!gone.length) return { ...head, steps };
  const kept = (names: (all: readonly ProcedureStep[]) => Set<string>) => ({ name }: { name: string }): boolean => names(steps).has(name) || !names(gone).has(name);
  const secrets = (all: readonly ProcedureStep[]): Set<string> => new Set([...all.flatMap(({ secret }) => secret ?? []), ...(all === steps ? secretIn(head.effects) : [])]);
  const rest: Pick<Procedure, 'parameters' | 'secrets' | 'outputs'> = {
    parameters: head.parameters?.filter(kept((all) => new Set([...all.flatMap(parametersOf), ...(all === steps ? namesIn(head.effects) : [])]))),
    secrets: head.secrets?.filter(kept(secrets)),
    outputs: head.outputs?.filter(kept((all) => new Set(all.flatMap(({ output }) => output ?? [])))),
  };
  return { ...head, ...rest, steps };
}

export function stateOf({ step, out }: Row): RowState {
  if (!step || out) return 'left_out';
  if (step.optional) return 'optional';
  return parametersOf(wordless(step)).length ? 'parameter' : 'same';
}

const replace = (edit: Edit, at: number, row: Row): Edit => ({ ...edit, rows: edit.rows.with(at, row) });

/** Changes a step. What has no value any more is not in it. */
export function withStep(edit: Edit, at: number, change: Partial<ProcedureStep>): Edit {
  const row = edit.rows[at];
  if (!row?.step) return edit;
  const step = Object.fromEntries(Object.entries({ ...row.step, ...change }).filter(([, value]) => value !== undefined && value !== false)) as unknown as ProcedureStep;
  return replace(edit, at, { ...row, step });
}

/** The text of a step that can become a parameter: what was typed or chosen, the file, or the name of what was pressed; '' where there is none. */
export function literalOf(step: ProcedureStep): string {
  const { text, options, files, target } = step;
  const literal = (step.do === 'change' ? text : step.do === 'selectOption' ? options?.[0] : step.do === 'setInputFiles' ? files?.[0] : /click/i.test(step.do) ? target?.name : '') ?? '';
  return namesIn(literal).size ? '' : literal;
}

/** Whether something was typed in a step that stays as it is in every run. */
export const typed = ({ step, out }: Row): boolean => !!step && !out && ['change', 'selectOption', 'setInputFiles'].includes(step.do) && literalOf(step) !== '';

/** A text as the name of a parameter. */
export function called(text: string): string {
  return text.toLowerCase().replace(/[^a-z0-9]+/g, '_').replace(/^[^a-z]+|_+$/g, '').slice(0, 40);
}

function unique(wanted: string, taken: readonly string[]): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? wanted : `${wanted}_${n}`;
    if (!taken.includes(name)) return name;
  }
}

function typeOf(value: string): 'text' | 'integer' | 'date' | 'month' {
  if (/^\d{4}-\d\d-\d\d$/.test(value)) return 'date';
  return /^\d{4}-\d\d$/.test(value) ? 'month' : 'text';
}

/** Makes the text of a step a parameter: there, wherever else the same text is all of a checkpoint or of a name, and in the words around elements. */
function toParameter(edit: Edit, at: number): Edit {
  const step = edit.rows[at]?.step;
  const literal = step ? literalOf(step) : '';
  if (!step || !literal) return edit;
  const value = pieces(literal).map((piece) => piece.name ?? piece.text).join('');
  const all = edit.head.parameters ?? [];
  const known = all.find(({ examples }) => examples?.includes(value));
  const name = known?.name ?? unique(called(/click/i.test(step.do) ? '' : (step.target?.name ?? '')) || 'value', all.map((one) => one.name));
  const place = (text: string): string => (text === literal ? `{${name}}` : text);
  const numberless = literal.replace(/\p{Nd}+(?:[.,:/’' -]\p{Nd}+)*/gu, '#'); // as lines around an element are
  const said = (line: string): string => (/\p{L}{2}/u.test(numberless) ? line.replaceAll(numberless, `{${name}}`) : line);
  const put = (one: ProcedureStep, own: boolean): ProcedureStep => {
    const { title, target, says, ...rest } = one;
    const next = { ...inTexts({ title: '', ...rest }, place), ...(says && { says: says.map(said) }), title: own && literal.length > 2 ? title.replaceAll(literal, `{${name}}`) : title };
    // A selector that was made of the text finds no other.
    return target ? { ...next, target: { ...mapped(target, place), ...(target.selectors && { selectors: target.selectors.filter((list) => !list?.some((part) => part.includes(value))) }) } } : next;
  };
  const rows = edit.rows.map((row, i) => (row.step ? { ...row, step: put(row.step, i === at) } : row));
  const head = known ? edit.head : { ...edit.head, parameters: [...all, { name, type: step.do === 'setInputFiles' ? 'file' as const : typeOf(value), examples: [value] }] };
  return { head, rows };
}

/** Puts the values of the first recording back into a step. A parameter that nothing uses any more is removed. */
function toSame(edit: Edit, at: number): Edit {
  const row = edit.rows[at];
  if (!row?.step) return edit;
  const names = parametersOf(row.step);
  const all = edit.head.parameters ?? [];
  const known = new Map(all.flatMap(({ name, examples }) => (examples?.[0] === undefined ? [] : [[name, escaped(examples[0])]])));
  const back = (text: string): string => text.replace(places, (whole, name?: string) => (name === undefined ? whole : (known.get(name) ?? whole)));
  const next = replace(edit, at, { ...row, step: inTexts(row.step, back) });
  const used = new Set([...next.rows.flatMap(({ step }) => (step ? parametersOf(step) : [])), ...namesIn(next.head.effects)]);
  return { ...next, head: { ...next.head, parameters: all.filter(({ name }) => used.has(name) || !names.includes(name)) } };
}

/** Whether a row can be made so. */
export function can(row: Row | undefined, state: RowState): boolean {
  if (!row?.step) return false;
  return state !== 'parameter' || stateOf(row) === 'parameter' || parametersOf(row.step).length > 0 || literalOf(row.step) !== '';
}

export function setState(edit: Edit, at: number, state: RowState): Edit {
  const row = edit.rows[at];
  if (!row?.step || !can(row, state)) return edit;
  if (state === 'left_out') return replace(edit, at, { ...row, out: true });
  const next = withStep(replace(edit, at, { ...row, out: false }), at, { optional: state === 'optional' });
  if (state === 'parameter') return parametersOf(wordless(row.step)).length ? next : toParameter(next, at);
  return state === 'same' ? toSame(next, at) : next;
}

/** Gives a parameter another name, wherever it stands. */
export function renameParameter(edit: Edit, was: string, name: string): Edit {
  const put = (text: string): string => text.replace(places, (whole, found?: string) => (found === was ? `{${name}}` : whole));
  return {
    head: { ...edit.head, parameters: edit.head.parameters?.map((one) => (one.name === was ? { ...one, name } : one)), effects: mapped(edit.head.effects, put) },
    rows: edit.rows.map((row) => (row.step ? { ...row, step: inTexts(row.step, put) } : row)),
  };
}

/** Gives a secret another name, wherever it stands. */
export function renameSecret(edit: Edit, was: string, name: string): Edit {
  return {
    head: { ...edit.head, secrets: edit.head.secrets?.map((one) => (one.name === was ? { ...one, name } : one)), effects: mapped(edit.head.effects, (text) => (text === `SECRET:${was}` ? `SECRET:${name}` : text)) },
    rows: edit.rows.map((row) => (row.step?.secret === was ? { ...row, step: { ...row.step, secret: name } } : row)),
  };
}

/** Gives an output another name, wherever it stands. */
export function renameOutput(edit: Edit, was: string, name: string): Edit {
  return {
    head: { ...edit.head, outputs: edit.head.outputs?.map((one) => (one.name === was ? { ...one, name } : one)) },
    rows: edit.rows.map((row) => (row.step?.output === was ? { ...row, step: { ...row.step, output: name } } : row)),
  };
}

/** The number of each row's step, from 1; 0 where it is left out. */
export function numbers(rows: readonly Row[]): number[] {
  let n = 0;
  return rows.map(({ step, out }) => (step && !out ? ++n : 0));
}

/** What keeps a procedure from being saved, the first of it: a step without a checkpoint, by its row, or a finding; undefined where nothing does. */
export function obstacle(edit: Edit, findings: readonly LintFinding[]): { row: number } | { finding: LintFinding } | 'title' | 'steps' | undefined {
  if (!edit.head.title.trim()) return 'title';
  const runs = edit.rows.filter(({ step, out }) => step && !out);
  if (!runs.length) return 'steps';
  const row = edit.rows.findIndex(({ step, out }) => step && !out && !step.then?.length);
  if (row >= 0) return { row };
  const finding = findings.find(({ level }) => level === 'error');
  return finding && { finding };
}

/** A first checkpoint for a step that has none. */
export function suggested({ do: does, target, text, url }: ProcedureStep): ProcedureCheckpoint {
  if (does === 'navigate') return { is: 'address', text: `${(url ?? '').split(/[?#]/)[0] ?? ''}*` };
  if (does === 'change' && target && text) return { is: 'value', target, text };
  return target && !/click/i.test(does) ? { is: 'element', target } : { is: 'text', text: '' };
}
