const none = { count: 0, bytes: 0 };

/** What a server answers on which retention has nothing to remove. */
export const nothing = { off: false, at: '2026-11-26T12:00:00Z', bytes: 5_000_000, pictures: none, attachments: none, recordings: none, requests: none, removed_bytes: 0, items: [], more: 0 };

const item = { operation_id: 'op_1', ended_at: '2026-10-01T12:00:00Z', bytes: 1_000_000, why: 'age' };

/** And one with work that is old enough. */
export const removable = {
  ...nothing, bytes: 12_000_000, pictures: { count: 6, bytes: 6_000_000 }, attachments: { count: 1, bytes: 1_000_000 }, requests: { count: 2, bytes: 3_000 }, removed_bytes: 7_003_000, more: 1,
  items: [
    { ...item, what: 'attachment', attachment_id: 'att_1' }, ...[1, 2, 3, 4, 5, 6].map((n) => ({ ...item, what: 'pictures', recording_id: `rec_${n}` })),
    { ...item, bytes: 2_000, what: 'request', operation_id: 'op_2' }, { ...item, bytes: 1_000, what: 'request', operation_id: 'op_3' },
  ],
};
