import { fields, type Field } from '../kinds/fields';
import type { Json, JsonObject, Operation } from './wire';

/** How a value of an agent's free-form details is best drawn. */
export type Shape =
  | { as: 'nothing' }
  | { as: 'text'; text: string }
  | { as: 'markdown'; text: string }
  | { as: 'code'; text: string }
  | { as: 'diff'; text: string }
  | { as: 'link'; url: string }
  | { as: 'flag'; on: boolean }
  | { as: 'number'; text: string }
  | { as: 'list'; items: Json[] }
  | { as: 'table'; columns: string[]; rows: JsonObject[] }
  | { as: 'object'; entries: [string, Json][] };

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPlain = (value: Json): boolean => value === null || typeof value !== 'object';

const codeNames = /(^|_)(code|snippet|command|cmd|script|sql|query|diff|patch|stack|trace|log|output|json|yaml|path|file|file_path)($|_)/;

function looksLikeDiff(text: string): boolean {
  return /^@@ -\d/m.test(text) || (/^--- /m.test(text) && /^\+\+\+ /m.test(text));
}

/** Rows that are objects of plain values, with at least half of their columns in common, read best as a table. */
function asTable(items: Json[]): Shape | null {
  if (items.length === 0 || !items.every((item) => isObject(item) && Object.values(item).every(isPlain))) return null;
  const rows = items as JsonObject[];
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const filled = rows.reduce((sum, row) => sum + Object.keys(row).length, 0);
  return columns.length <= 8 && filled * 2 >= columns.length * rows.length ? { as: 'table', columns, rows } : null;
}

/** Decides how to draw a value. The name helps: a 'code_snippet' is code even when it is one line. */
export function shape(value: Json | undefined, name = ''): Shape {
  if (value === null || value === undefined || value === '') return { as: 'nothing' };
  if (typeof value === 'boolean') return { as: 'flag', on: value };
  if (typeof value === 'number') return { as: 'number', text: String(value) };
  if (Array.isArray(value)) return value.length === 0 ? { as: 'nothing' } : (asTable(value) ?? { as: 'list', items: value });
  if (isObject(value)) {
    const entries = Object.entries(value);
    return entries.length === 0 ? { as: 'nothing' } : { as: 'object', entries };
  }
  if (looksLikeDiff(value)) return { as: 'diff', text: value };
  if (/^https?:\/\/\S+$/i.test(value)) return { as: 'link', url: value };
  if (codeNames.test(name)) return { as: 'code', text: value };
  return /\n|\*\*|`|\[[^\]]+\]\(|^#{1,6} |^[-*] /.test(value) ? { as: 'markdown', text: value } : { as: 'text', text: value };
}

/** One thing to choose from, as an agent offers it. */
export interface Choice {
  value: string;
  label: string;
  description: string;
}

const word = (value: Json | undefined): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

/** What an operation asks with: its kind, and the details its agent sent. */
type Asks = Pick<Operation, 'action_type' | 'details'>;

const placesOf = (op: Asks): Record<string, Field> => fields[op.action_type] ?? {};

/** What was sent for a field of the operation's kind, each value under the name it was sent with: all of them where the field shows all, else the first. */
export function sent(op: Asks, name: string): [string, Json][] {
  const field = placesOf(op)[name];
  const all = (field?.names ?? []).flatMap((alias): [string, Json][] => {
    const value = op.details?.[alias];
    return value === undefined || shape(value).as === 'nothing' ? [] : [[alias, value]];
  });
  return field?.all ? all : all.slice(0, 1);
}

/** The value of a field of the operation's kind, under whichever of its names it was sent. */
export const field = (op: Asks, name: string): Json | undefined => sent(op, name)[0]?.[1];

/** The choices an agent offers as `options`: words, or objects with a value, label and description. */
export function choices(op: Asks): Choice[] {
  const offered = field(op, 'options');
  if (!Array.isArray(offered)) return [];
  return offered.flatMap((item): Choice[] => {
    if (isObject(item)) {
      const label = word(item.label) || word(item.title) || word(item.name) || word(item.value);
      return label ? [{ value: word(item.value) || label, label, description: word(item.description) }] : [];
    }
    const label = word(item);
    return label ? [{ value: label, label, description: '' }] : [];
  });
}

/** A field the agent wants filled from what the operator sees. */
export interface Wanted {
  name: string;
  hint: string;
}

/** The fields of `data_to_extract`: a list of names, of objects with a name, or an object of name and hint. */
export function wanted(op: Asks): Wanted[] {
  const asked = field(op, 'data_to_extract');
  if (isObject(asked)) return Object.entries(asked).map(([name, hint]) => ({ name, hint: word(hint) }));
  if (typeof asked === 'string' && asked) return [{ name: asked, hint: '' }];
  if (!Array.isArray(asked)) return [];
  return asked.flatMap((item): Wanted[] => {
    if (isObject(item)) {
      const name = word(item.name) || word(item.field);
      return name ? [{ name, hint: [word(item.type), word(item.description)].filter(Boolean).join(', ') }] : [];
    }
    return word(item) ? [{ name: word(item), hint: '' }] : [];
  });
}

/** The entries of details that have no place in the view of their kind, so that nothing an agent sent is dropped. `shown` has one elsewhere. */
export function rest(op: Asks, shown: readonly string[]): [string, Json][] {
  const placed = new Set([...Object.keys(placesOf(op)).flatMap((name) => sent(op, name).map(([alias]) => alias)), ...shown]);
  return Object.entries(op.details ?? {}).filter(([name]) => !placed.has(name));
}

/** A list of lines, from a list or from one text. */
export function lines(value: Json | undefined): string[] {
  if (Array.isArray(value)) return value.map((item) => (isObject(item) ? word(item.description) || word(item.title) || JSON.stringify(item) : String(item)));
  return typeof value === 'string' && value ? [value] : [];
}

/** An object without some of its members. */
export const without = <T extends object>(of: T, ...names: string[]): T => Object.fromEntries(Object.entries(of).filter(([name]) => !names.includes(name))) as T;
