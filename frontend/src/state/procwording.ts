import type { Procedure, ProcedureCheckpoint, ProcedureParameter, ProcedureTarget, RunOfProcedure } from '../lib/wire';
import type { RowState } from '../lib/procedure';
import { m } from '../paraglide/messages';

type Does = Procedure['does'][number];

const does: Record<Does, () => string> = { reads: m.proc_reads, sends: m.proc_sends, pays: m.proc_pays, deletes: m.proc_deletes };
export const doings = Object.keys(does) as Does[];
export const doesWord = (one: string): string => (Object.hasOwn(does, one) ? does[one as Does]() : one);
export const doesWords = (all: readonly string[]): string => all.map(doesWord).join(m.list_comma());

/** The hosts of addresses. */
export const hosts = (sites: readonly string[]): string => sites.map((site) => site.replace(/^https?:\/\//, '')).join(m.list_comma());

const types: Record<ProcedureParameter['type'], () => string> = {
  text: m.proc_type_text, integer: m.proc_type_integer, number: m.proc_type_number, date: m.proc_type_date, month: m.proc_type_month, choice: m.proc_type_choice, file: m.proc_type_file,
};
export const parameterTypes = Object.keys(types) as ProcedureParameter['type'][];
const outputTypes = { text: m.proc_type_text, table: m.proc_type_table, list: m.proc_type_list, file: m.proc_type_file };
export const typeWord = (type: ProcedureParameter['type']): string => types[type]();
export const outputWord = (type: keyof typeof outputTypes): string => outputTypes[type]();

const foundBys = { aria: m.proc_by_role, 'role and name': m.proc_by_role, 'test id': m.proc_by_test_id, id: m.proc_by_id, attribute: m.proc_by_attribute, text: m.proc_by_text, path: m.proc_by_path } as const;
/** What an element was found by, in words. */
export const foundByWords = (by = ''): string => (Object.hasOwn(foundBys, by) ? foundBys[by as keyof typeof foundBys]() : by);

/** What an element is, in words. */
export const targetWords = (target: ProcedureTarget | undefined): string =>
  target?.name ? (target.role ? m.proc_target({ role: m.proc_role_of({ role: target.role }), name: target.name }) : m.proc_target_name({ name: target.name })) : target?.role ? m.proc_role_of({ role: target.role }) : (target?.tag ?? target?.selectors?.[0]?.at(-1) ?? '');

export const checkpointKinds = {
  address: m.proc_is_address, title: m.proc_is_title, element: m.proc_is_element, gone: m.proc_is_gone, value: m.proc_is_value, text: m.proc_is_text, line: m.proc_is_line, download: m.proc_is_download, opened: m.proc_is_opened, closed: m.proc_is_closed,
} as const satisfies Record<ProcedureCheckpoint['is'], () => string>;

/** A checkpoint as a sentence. Its parameters stand in braces. */
export function checkpointWords({ is, text = '', target, page = '', window }: ProcedureCheckpoint): string {
  const element = targetWords(target);
  switch (is) {
    case 'address': return m.proc_then_address({ text });
    case 'title': return m.proc_then_title({ text });
    case 'element': return m.proc_then_element({ element });
    case 'gone': return m.proc_then_gone({ element });
    case 'value': return m.proc_then_value({ element, text });
    case 'text': return m.proc_then_text({ text });
    case 'download': return m.proc_then_download({ text: text || '*' });
    case 'opened': return window ? m.proc_then_window_opened({ title: text }) : m.proc_then_opened({ page });
    default: return window ? m.proc_then_window_closed({ title: text }) : m.proc_then_closed({ page });
  }
}

export const rowStates = {
  same: { icon: 'equal', key: 's', word: m.proc_same, make: m.proc_make_same },
  parameter: { icon: 'braces', key: 'p', word: m.proc_parameter, make: m.proc_make_parameter },
  optional: { icon: 'detour', key: 'o', word: m.proc_optional, make: m.proc_make_optional },
  left_out: { icon: 'x', key: 'l', word: m.proc_left_out, make: m.proc_leave_out },
} as const satisfies Record<RowState, unknown>;

type RunState = RunOfProcedure['state'];
export const runStates = {
  running: { icon: 'play', shade: '', word: m.proc_run_running },
  paused: { icon: 'pause', shade: 'orange', word: m.proc_run_paused },
  stopped: { icon: 'stop', shade: 'red', word: m.proc_run_stopped },
  taken: { icon: 'hand', shade: 'orange', word: m.proc_run_taken },
  good: { icon: 'check', shade: 'green', word: m.proc_run_good },
  given_up: { icon: 'x', shade: '', word: m.proc_run_given_up },
  broke_off: { icon: 'unplug', shade: 'red', word: m.proc_run_broke_off },
} as const satisfies Record<RunState, unknown>;
