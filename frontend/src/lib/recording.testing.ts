import type { Action, Recording } from './wire';

/** An action for tests: a click, unless told otherwise. */
export function action(seq: number, of: Partial<Action> = {}): Action {
  return { action_id: `a${seq}`, type: 'click', at_ns: seq * 1e9, end_ns: seq * 1e9, child_seqs: [seq], words: `Step ${seq}`, ...of };
}

/** A recording for tests: stopped and complete, unless told otherwise. */
export function recording(of: Partial<Recording> = {}): Recording {
  return {
    recording_id: 'rec_1', operation_id: 'op_1', by: 'mei', state: 'stopped', started_at: '2026-01-02T03:04:05Z', elapsed_ns: 167e9, span_ns: 167e9, system: 'linux/x11',
    screens: [{ x: 0, y: 0, w: 1440, h: 900, scale: 1 }], options: {}, sources: [], counts: { events: 0, clicks: 0, keys: 0, pictures: 0, equal_pictures: 0, masked: 0, black_pictures: 0, lost: 0 },
    complete: true, gaps: [], bytes: 0, max_bytes: 2e9, max_elapsed_ns: 3600e9, near_limit: false, ...of,
  };
}
