import { isObject } from '../../lib/details';
import type { Json, JsonObject, Operation } from '../../lib/wire';

/** What a command in a box wrote, and can be kept by itself. */
export interface BoxFile {
  path: string;
  change: string;
  /** Of a repository's own: how many there are. */
  files: number;
  sizes: [number, number];
  before: string;
  after: string;
  link: string;
  warning: '' | 'runs_by_itself' | 'leads_out';
  diff: string;
  added: number;
  removed: number;
}

/** What came of a command in a box. */
export interface BoxResult {
  command: string;
  folder: string;
  project: string;
  code: number;
  reason: string;
  seconds: number;
  output: string;
  lines: number;
  files: BoxFile[];
  more: number;
  lost: string[];
  written: number;
  masked: string[];
  limits: { seconds: number; memory: number; processes: number };
  with: string;
}

const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
const number = (value: Json | undefined): number => (typeof value === 'number' ? value : 0);
const texts = (value: Json | undefined): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);

function fileOf(of: JsonObject): BoxFile {
  const [before, after] = Array.isArray(of.sizes) ? of.sizes : [];
  const warning = text(of.warning);
  // Its two names say nothing that the path does not.
  const diff = text(of.diff).replace(/^--- .*\n\+\+\+ .*\n/, '');
  const count = (sign: string): number => diff.split('\n').filter((line) => line.startsWith(sign)).length;
  return {
    path: text(of.path), change: text(of.change), files: number(of.files), sizes: [number(before), number(after)], before: text(of.mode_before), after: text(of.mode_after), link: text(of.link),
    // What is not known is no reason to select it.
    warning: warning === '' || warning === 'leads_out' ? warning : 'runs_by_itself',
    diff, added: count('+'), removed: count('-'),
  };
}

/** The details of an operation of kind box, once they are here. */
export function resultOf(op: Pick<Operation, 'details'> | undefined): BoxResult | undefined {
  const of = op?.details;
  if (!of || typeof of.command !== 'string' || !Array.isArray(of.files)) return undefined;
  const limits = isObject(of.limits) ? of.limits : {};
  return {
    command: of.command, folder: text(of.folder), project: text(of.project), code: number(of.exit_code), reason: text(of.reason), seconds: number(of.seconds), output: text(of.output), lines: number(of.output_lines),
    files: of.files.filter(isObject).map(fileOf), more: number(of.more), lost: texts(of.lost), written: number(of.written), masked: texts(of.masked),
    limits: { seconds: number(limits.seconds), memory: number(limits.memory), processes: number(limits.processes) }, with: text(of.made_with),
  };
}
