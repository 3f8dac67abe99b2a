import { clock, faults, second, size, type Share } from '../lib/recording';
import type { Gap, Recording, SourceState } from '../lib/wire';
import { m } from '../paraglide/messages';

/** The words of recordings. Each is a message of its own, in the language of the page. */

export function sourceWord(source: string): string {
  switch (source) {
    case 'input':
      return m.src_input();
    case 'windows':
      return m.src_windows();
    case 'elements':
      return m.src_elements();
    case 'screen':
      return m.src_screen();
    case 'files':
      return m.src_files();
    case 'clipboard':
      return m.src_clipboard();
    case 'browser':
      return m.src_browser();
    default:
      return source;
  }
}

/** Why a source delivers less than all, as a sentence. */
export function reasonSentence(source: SourceState): string {
  switch (source.code) {
    case 'wayland':
      if (source.source === 'elements') return m.why_wayland_elements();
      if (source.source === 'windows') return m.why_wayland_windows();
      if (source.source === 'screen') return m.why_wayland_screen();
      return m.why_wayland();
    case 'no_display':
      return m.why_no_display();
    case 'no_accessibility_bus':
      return m.why_no_bus();
    case 'no_permission':
      return m.why_no_permission();
    case 'elevated':
      return m.why_elevated();
    case 'lost':
      return m.why_lost();
    case 'waiting':
      return m.why_waiting();
    case 'declined':
      return m.why_declined();
    case 'no_folder':
      return m.why_no_folder();
    case 'no_browser':
      return m.why_no_browser();
    case 'unsupported':
      return m.why_unsupported();
    default:
      return source.detail ?? '';
  }
}

/** What a source delivered, in a few words. */
export function sourceStatus(source: SourceState, recording: Recording): string {
  if (source.status === 'off') return m.src_off();
  if (source.status === 'missing') return m.src_missing();
  if (source.lost) return m.src_lost({ n: source.lost });
  const { pictures, equal_pictures: equal, black_pictures: black } = recording.counts;
  if (source.source === 'screen' && black) return m.src_pictures_black({ n: pictures, black });
  if (source.status === 'partial') return m.src_partial();
  if (source.source === 'screen') {
    return equal ? m.src_pictures_equal({ n: pictures, equal }) : m.src_pictures({ n: pictures });
  }
  return m.src_complete();
}

/** The sources that gave a recording nothing though they were asked to, or only a part. */
export function lacks(r: Recording): string {
  return r.sources.filter((s) => s.status === 'missing' || s.status === 'partial').map((s) => sourceWord(s.source)).join(m.list_comma());
}

/** What a recording that is not complete lacks, as a sentence. */
export function incompleteSentence(r: Recording): string {
  const lacking = lacks(r);
  if (faults(r).length) return m.rec_whole_no();
  return lacking ? m.rec_whole_without({ what: lacking }) : m.rec_with_gaps();
}

/** How a recording ended, in a word or a few. */
export function recordingWord(r: Recording): string {
  if (r.state === 'recording') return m.rec_recording();
  if (r.state === 'paused') return m.rec_paused();
  if (r.removed_at) return m.rec_removed_short();
  if (r.complete) return m.rec_complete();
  if (r.state === 'interrupted') return m.rec_interrupted();
  const lacking = lacks(r);
  return faults(r).length || !lacking ? m.rec_with_gaps() : m.rec_without({ what: lacking });
}

/** Why a recording ended, where that was not the operator's wish. */
export function endSentence(r: Recording): string {
  switch (r.reason) {
    case 'limit':
      return m.rec_end_limit();
    case 'operation_ended':
      return m.rec_end_operation();
    case 'shutdown':
      return m.rec_end_shutdown();
    case 'crash':
      return m.rec_end_crash();
    case 'failed':
      return m.rec_end_failed();
    default:
      return '';
  }
}

export function gapReason(gap: Gap): string {
  return {
    paused: m.gap_paused, excluded: m.gap_excluded, lost: m.gap_lost, overflow: m.gap_overflow, crash: m.gap_crash, limit: m.gap_limit,
    unreported: m.gap_unreported,
  }[gap.reason]();
}

/** One gap: from when to when, of what, and why. */
export function gapLine(gap: Gap): string {
  const what = gap.source ? m.gap_of({ source: sourceWord(gap.source), why: gapReason(gap) }) : gapReason(gap);
  return gap.count ? m.gap_count({ what, n: gap.count }) : what;
}

/** Gaps in one sentence: the first two by name, the rest by number. */
export function gapSentence(gaps: Gap[]): string {
  const named = gaps.slice(0, 2).map((gap) => `${clock(gap.from_ns)} ${gapLine(gap)}`).join(m.list_comma());
  return gaps.length > 2 ? m.gap_more({ named, n: gaps.length - 2 }) : named;
}

/** What is left until the recorder stops by itself. */
export function limitSentence(r: Recording, elapsed: number): string {
  const left = r.max_elapsed_ns - elapsed;
  const room = r.max_bytes - r.bytes;
  if (r.max_elapsed_ns && (left < 120 * second || left / r.max_elapsed_ns <= room / (r.max_bytes || 1))) return m.rec_near_time({ time: clock(left) });
  return m.rec_near_size({ size: sizeWord(Math.max(0, room)) });
}

export function sizeWord(bytes: number): string {
  const s = size(bytes);
  return { byte: m.size_bytes, kilobyte: m.size_kb, megabyte: m.size_mb, gigabyte: m.size_gb }[s.unit]({ n: s.n });
}

/** What an agent gets, line by line. */
export function shareLines(s: Share): string[] {
  const lines = [m.give_steps({ n: s.steps })];
  if (s.cut) lines.push(m.give_cut({ n: s.cut }));
  if (s.typed || s.hidden) lines.push(s.text ? (s.hidden ? m.give_text_but({ n: s.hidden }) : m.give_text()) : m.give_no_text());
  lines.push(s.pictures ? m.give_pictures({ n: s.pictures }) : m.give_no_pictures());
  return lines;
}
