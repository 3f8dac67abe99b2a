import type { Changes } from '../lib/findings';
import type { FindingKind } from '../lib/wire';
import { m } from '../paraglide/messages';

/** The words of findings. Each is a message of its own, in the language of the page. */

/** What a finding is about; '' for a value, which says itself. */
export function findingWord(kind: FindingKind, own: boolean): string {
  switch (kind) {
    case 'outcome':
      return m.find_kind_outcome();
    case 'error':
      return m.find_kind_error();
    case 'detour':
      return m.find_kind_detour();
    case 'undone':
      return m.find_kind_undone();
    case 'slow':
      return m.find_kind_slow();
    case 'done':
      return m.find_kind_done();
    case 'unseen':
      return m.find_kind_unseen();
    case 'note':
      return own ? m.find_kind_own() : m.find_kind_note();
    default:
      return own ? m.find_kind_own() : '';
  }
}

/** A part of an answer, as evidence. */
export function answerWord(id: string): string {
  switch (id) {
    case 'human_input':
      return m.find_ev_note();
    case 'execution_result':
      return m.answer_execution();
    case 'decision':
      return m.find_ev_decision();
    default:
      return id;
  }
}

/** How an answer differs from its draft: '2 edited, 1 cut, 1 added'. */
export function changeWords({ edited, cut, added }: Changes): string {
  if (!edited && !cut && !added) return m.find_unchanged();
  return [edited && m.find_n_edited({ n: edited }), cut && m.find_n_cut({ n: cut }), added && m.find_n_added({ n: added })].filter((word) => typeof word === 'string').join(m.list_comma());
}

/** What a summarizer reads. */
export function sourceOfWord(source: string): string {
  switch (source) {
    case 'answer':
      return m.sum_reads_answer();
    case 'desktop':
      return m.sum_reads_desktop();
    case 'browser':
      return m.sum_reads_browser();
    case 'terminal':
      return m.sum_reads_terminal();
    default:
      return source;
  }
}
