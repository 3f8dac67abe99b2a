import { choices, field, isObject, type Choice } from './details';
import type { Json, JsonObject, Operation } from './wire';

/**
 * The form that an answer is filled in with: details.response_schema, a flat JSON Schema, and of feedback its options and its rating.
 * The server is the one that counts (backend/kind/form); this says the same while somebody types. Both are held to the same cases.
 */
export interface Question {
  name: string;
  label: string;
  hint: string;
  type: 'string' | 'number' | 'integer' | 'boolean' | 'array';
  required: boolean;
  default?: Json;
  minLength?: number;
  maxLength?: number;
  format?: string;
  pattern?: string;
  formatMinimum?: string;
  formatMaximum?: string;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
  exclusiveMaximum?: number;
  multipleOf?: number;
  minItems?: number;
  maxItems?: number;
  choices: Choice[];
  /** An array that has each choice once, and so differs only by its order. */
  ranking: boolean;
  /** It comes from details.options or details.rating. */
  offered?: true;
}

/** What is wrong with one value: a keyword of the schema, or unknown, and what it says. */
export interface Fault {
  name: string;
  code: string;
  limit: string;
}

/** Finds a pattern in a text, as the server does. */
export type Matches = (pattern: string, text: string) => boolean;

const maxText = 20_000;
const types: readonly string[] = ['string', 'number', 'integer', 'boolean', 'array'];

const own = (of: JsonObject, name: string): Json | undefined => (Object.hasOwn(of, name) ? of[name] : undefined);
const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const numeric = (value: Json | undefined): number | undefined => (typeof value === 'number' ? value : undefined);
const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

function choicesOf(of: JsonObject): Choice[] {
  const names = list(own(of, 'enumNames'));
  const named = [...list(own(of, 'oneOf')), ...list(own(of, 'anyOf'))].flatMap((one): Choice[] =>
    isObject(one) ? [{ value: text(one.const), label: text(one.title) || text(one.const), description: text(one.description) }] : []);
  return [...list(own(of, 'enum')).map((one, i) => ({ value: text(one), label: text(names[i]) || text(one), description: '' })), ...named];
}

function question(name: string, of: Json | undefined, required: boolean): Question | null {
  const type = isObject(of) ? text(own(of, 'type')) : '';
  if (!isObject(of) || !types.includes(type)) return null;
  const get = (key: string): Json | undefined => own(of, key);
  const items = get('items');
  const offered = type === 'array' ? (isObject(items) ? choicesOf(items) : []) : type === 'string' ? choicesOf(of) : [];
  if (type === 'array' && !offered.length) return null;
  return {
    name, label: text(get('title')) || name, hint: text(get('description')), type: type as Question['type'], required, default: get('default'),
    minLength: numeric(get('minLength')), maxLength: numeric(get('maxLength')), format: text(get('format')), pattern: text(get('pattern')),
    formatMinimum: text(get('formatMinimum')), formatMaximum: text(get('formatMaximum')),
    minimum: numeric(get('minimum')), maximum: numeric(get('maximum')), exclusiveMinimum: numeric(get('exclusiveMinimum')), exclusiveMaximum: numeric(get('exclusiveMaximum')),
    multipleOf: numeric(get('multipleOf')), minItems: numeric(get('minItems')), maxItems: numeric(get('maxItems')),
    choices: offered, ranking: type === 'array' && offered.length > 1 && get('minItems') === offered.length,
  };
}

/** The questions of a schema in their order; null where a part of it is not known here, as that of a newer server. */
export function questionsOf(schema: Json | undefined): Question[] | null {
  const properties = isObject(schema) ? own(schema, 'properties') : undefined;
  if (!isObject(schema) || !isObject(properties)) return null;
  const required = list(own(schema, 'required'));
  const all = Object.keys(properties).map((name) => question(name, own(properties, name), required.includes(name)));
  return all.includes(null) ? null : (all as Question[]);
}

/** What the options and the rating of feedback ask. */
export function offeredQuestions(op: Pick<Operation, 'action_type' | 'details'>): Question[] {
  const all: Question[] = [];
  const base = { label: '', hint: '', choices: [], ranking: false, offered: true as const };
  const offered = choices(op).filter(({ value }, i, list) => list.findIndex((other) => other.value === value) === i);
  const choose = text(field(op, 'choose')).toLowerCase();
  if (offered.length && offered.length <= 200) {
    const several = choose === 'several' || choose === 'rank';
    all.push({ ...base, name: 'choice', type: several ? 'array' : 'string', required: choose !== '', choices: offered, ranking: choose === 'rank', ...(several && { minItems: choose === 'rank' ? offered.length : 1 }) });
  }
  const rating = field(op, 'rating');
  if (isObject(rating)) all.push({ ...base, name: 'rating', type: 'integer', required: true, minimum: numeric(rating.min), maximum: numeric(rating.max) });
  return all;
}

/** All that an answer to an operation is filled in with; null where its schema is not known here. */
export function formQuestions(op: Pick<Operation, 'action_type' | 'details'>): Question[] | null {
  const schema = field(op, 'response_schema');
  const asked = schema === undefined ? [] : questionsOf(schema);
  return asked && [...offeredQuestions(op), ...asked];
}

/** All that is wrong with the values of a form, in its order. Without `matches`, patterns are left to the server. */
export function faultsOf(questions: readonly Question[], values: JsonObject, matches?: Matches): Fault[] {
  const found = questions.flatMap((q): Fault[] => {
    const value = own(values, q.name);
    if (value === undefined) return q.required ? [{ name: q.name, code: 'required', limit: '' }] : [];
    const wrong = faultOf(q, value, matches);
    return wrong ? [{ name: q.name, code: wrong[0], limit: String(wrong[1] ?? '') }] : [];
  });
  const unknown = Object.keys(values).filter((name) => !questions.some((q) => q.name === name));
  return [...found, ...unknown.map((name) => ({ name, code: 'unknown', limit: '' }))];
}

type Wrong = [code: string, limit?: string | number] | null;

function faultOf(q: Question, value: Json, matches?: Matches): Wrong {
  if (q.type === 'string' && typeof value === 'string') return textFault(q, value, matches);
  if ((q.type === 'number' || q.type === 'integer') && typeof value === 'number') return numberFault(q, value);
  if (q.type === 'boolean' && typeof value === 'boolean') return null;
  if (q.type === 'array' && Array.isArray(value)) return listFault(q, value);
  return ['type', q.type];
}

function textFault(q: Question, value: string, matches?: Matches): Wrong {
  if (q.choices.length) return q.choices.some((c) => c.value === value) ? null : ['choice'];
  const length = [...value].length;
  if (q.minLength !== undefined && length < q.minLength) return ['minLength', q.minLength];
  if (length > (q.maxLength ?? maxText)) return ['maxLength', q.maxLength ?? maxText];
  if (q.format && !formed(q.format, value)) return ['format', q.format];
  const at = instant(q.format, value);
  const first = instant(q.format, q.formatMinimum);
  const last = instant(q.format, q.formatMaximum);
  if (at && first && before(at, first)) return ['formatMinimum', q.formatMinimum];
  if (at && last && before(last, at)) return ['formatMaximum', q.formatMaximum];
  return q.pattern && matches && !matches(q.pattern, value) ? ['pattern', q.pattern] : null;
}

function numberFault(q: Question, value: number): Wrong {
  if (q.type === 'integer' && !Number.isSafeInteger(value)) return ['type', q.type];
  if (q.minimum !== undefined && value < q.minimum) return ['minimum', q.minimum];
  if (q.maximum !== undefined && value > q.maximum) return ['maximum', q.maximum];
  if (q.exclusiveMinimum !== undefined && value <= q.exclusiveMinimum) return ['exclusiveMinimum', q.exclusiveMinimum];
  if (q.exclusiveMaximum !== undefined && value >= q.exclusiveMaximum) return ['exclusiveMaximum', q.exclusiveMaximum];
  if (q.multipleOf === undefined) return null;
  const times = value / q.multipleOf;
  return Number.isFinite(times) && Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times)) ? null : ['multipleOf', q.multipleOf];
}

function listFault(q: Question, value: Json[]): Wrong {
  const seen = new Set<Json>();
  for (const one of value) {
    if (!q.choices.some((c) => c.value === one)) return ['choice'];
    if (seen.has(one)) return ['uniqueItems'];
    seen.add(one);
  }
  if (q.minItems !== undefined && value.length < q.minItems) return ['minItems', q.minItems];
  return q.maxItems !== undefined && value.length > q.maxItems ? ['maxItems', q.maxItems] : null;
}

// As the server has them: each matches in time in proportion to the text.
const email = /^[A-Za-z0-9.!#$%&'*+/=?^_{|}~-]{1,64}@[A-Za-z0-9-]{1,63}(\.[A-Za-z0-9-]{1,63}){0,8}$/;
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-[\]_a-z~]+$/;
const moment = /^(\d{4})-(\d{2})-(\d{2})(?:T(\d{2}):(\d{2}):(\d{2})(?:\.(\d{1,9}))?(?:Z|([+-])([01]\d|2[0-3]):([0-5]\d)))?$/;

function formed(format: string, value: string): boolean {
  if (format === 'email') return email.test(value);
  if (format === 'uri') return uri.test(value);
  return instant(format, value) !== null;
}

type Instant = [milliseconds: number, nanoseconds: number];
const before = (a: Instant, b: Instant): boolean => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);

/** When a date begins, or what a date-time names. */
function instant(format: string | undefined, value: string | undefined): Instant | null {
  const parts = moment.exec(value ?? '');
  if (!parts || !(format === 'date' ? !parts[4] : format === 'date-time' && parts[4])) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as [number, number, number, number, number, number];
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  if (at.getUTCMonth() !== month - 1 || at.getUTCDate() !== day || hour > 23 || minute > 59 || second > 59) return null;
  at.setUTCHours(hour, minute, second);
  const offset = (Number(parts[9] ?? 0) * 60 + Number(parts[10] ?? 0)) * (parts[8] === '-' ? -1 : 1);
  return [at.getTime() - offset * 60_000, Number((parts[7] ?? '').padEnd(9, '0'))];
}

/** The patterns of a form, ready to be matched in time in proportion to the text whatever they are: the engine is the server's, ported. */
export async function matcher(questions: readonly Question[]): Promise<Matches> {
  const patterns = new Set(questions.flatMap((q) => q.pattern || []));
  if (!patterns.size) return () => true;
  const { RE2JS } = await import('re2js');
  const compiled = new Map([...patterns].map((pattern) => [pattern, RE2JS.compile(pattern)]));
  return (pattern, value) => compiled.get(pattern)?.matcher(value).find() ?? false;
}

/** The values that a form begins with: the defaults of its schema. */
export const defaultsOf = (questions: readonly Question[]): JsonObject => Object.fromEntries(questions.flatMap((q) => (q.default === undefined ? [] : [[q.name, q.default]])));

/** A value as a person reads it. */
export function valueWords(q: Question | undefined, value: Json): string {
  const one = (item: Json): string => q?.choices.find((c) => c.value === item)?.label ?? (typeof item === 'string' ? item : JSON.stringify(item));
  return Array.isArray(value) ? value.map(one).join(', ') : one(value);
}
