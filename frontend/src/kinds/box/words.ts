import type { Operation, TimelineEvent } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import { filesWord } from '../../state/effectwording';
import { sizeWord } from '../../state/recwording';
import { language } from '../../state/locale.svelte';
import type { By } from '../kind';
import { resultOf, type BoxFile } from './result';

/** A command in a line, shortened. */
function oneLine(command: string): string {
  const line = command.trim().replace(/\s+/g, ' ');
  return line.length > 100 ? `${[...line].slice(0, 99).join('')}…` : line;
}

/** A length of time as a number and one unit. */
export function lengthWord(seconds: number): string {
  const [n, unit] = seconds < 60 ? [seconds, 'second'] : seconds < 3600 ? [seconds / 60, 'minute'] : [seconds / 3600, 'hour'];
  return new Intl.NumberFormat(language.locale, { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits: 1 }).format(n);
}

export function titleOf(op: Operation): string {
  const result = resultOf(op);
  return result ? m.box_title({ command: oneLine(result.command), files: filesWord(result.files.length + result.more) }) : '';
}

/** A limit of memory: as it is given, in units of 1024. */
export const memoryWord = (bytes: number): string => (bytes && Number.isInteger(bytes / 2 ** 30) ? m.size_gb({ n: String(bytes / 2 ** 30) }) : sizeWord(bytes));

/** What became of a file, beside how many lines of it changed. */
export function changeWord(file: BoxFile): string {
  if (file.files) return m.box_git_kept({ files: filesWord(file.files) });
  const words = [];
  if (file.change === 'added') words.push(m.box_added());
  if (file.change === 'deleted') words.push(m.box_deleted());
  if (file.link) words.push(m.box_link({ to: file.link }));
  if (file.before && file.after) words.push(m.box_mode({ before: file.before, after: file.after }));
  return words.join(m.list_comma());
}

/** Why a file may do more than its text says. */
export function warningWord(file: BoxFile, selected: boolean): string {
  const says = file.warning === 'leads_out' ? (selected ? m.box_warn_leads_on : m.box_warn_leads) : selected ? m.box_warn_runs_on : m.box_warn_runs;
  return says({ path: file.path });
}

export function outcomeWord(op: Operation): string {
  if (op.result) return op.result.decision === 'approve' ? m.box_outcome_kept() : m.box_outcome_discarded();
  return m.box_outcome_discarded();
}

export function endSentence(op: Operation, name: string, time: string): string {
  if (op.result?.decision === 'approve') return m.box_ended_kept({ name, time, files: filesWord(op.result.keep?.length ?? 0) });
  if (op.result || op.state === 'declined') return m.box_ended_discarded({ name, time });
  return op.ended?.by.role === 'system' ? m.box_ended_late({ time }) : m.box_ended_gone({ time });
}

export function eventSentence(event: TimelineEvent, _op: Operation, by: By): string {
  if (event.type !== 'completed') return '';
  return event.data.answer?.decision === 'approve' ? by(m.box_ev_kept_you, m.box_ev_kept) : by(m.box_ev_discarded_you, m.box_ev_discarded);
}
