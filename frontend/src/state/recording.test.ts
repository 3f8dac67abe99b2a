import { expect, test, vi } from 'vitest';
import { Problem } from '../backend/http';
import { noEdits } from '../lib/recording';
import { action, recording } from '../lib/recording.testing';
import type { Edits } from '../lib/wire';
import type { AppState } from './app.svelte';
import { OpenRecording } from './recording.svelte';

/** A recording with actions, over a server that keeps edits as the real one does. */
async function opened(): Promise<{ open: OpenRecording; saved: () => Edits; saveEdits: ReturnType<typeof vi.fn>; others: (edits: Edits) => void; leaving: Set<string>; actions: ReturnType<typeof vi.fn> }> {
  let kept = noEdits();
  const leaving = new Set<string>();
  const actions = vi.fn(async () => ({ actions: [action(1), action(2), action(3)], suggestions: [{ step: 1, action_id: 'a2', at_ns: 2e9 }] }));
  const saveEdits = vi.fn(async (_id: string, edits: Edits) => {
    if (edits.version !== kept.version) throw new Problem(409, 'changed');
    kept = { ...edits, version: edits.version + 1 };
    return kept;
  });
  const api = { saveEdits, edits: async () => kept, actions };
  const app = { api, recorder: { leaving: (id: string) => leaving.has(id), known: new Map([['rec_1', recording()]]), ticks: new Map([['rec_1 0', 5e9]]), need: async () => undefined } } as unknown as AppState;
  const open = new OpenRecording(app, 'rec_1');
  await open.open();
  open.follow('en');
  await vi.waitFor(() => expect(open.loaded).toBe(true));
  return { open, saved: () => kept, saveEdits, others: (edits) => (kept = edits), leaving, actions };
}

test('nothing is asked of a recording that is being thrown away', async () => {
  const { open, leaving, actions } = await opened();
  await open.reload();
  expect(actions).toHaveBeenCalledTimes(2);
  leaving.add('rec_1');
  await open.reload();
  expect(actions).toHaveBeenCalledTimes(2);
});

test('a cut is saved, and undo takes it back here and there', async () => {
  const { open, saved } = await opened();
  open.cut('a2');
  expect(open.isCut('a2')).toBe(true);
  expect(open.share.steps).toBe(2);
  await open.save();
  expect(saved().cuts).toEqual(['a2']);
  open.undo();
  await open.save();
  expect(saved().cuts).toEqual([]);
  expect(open.canUndo).toBe(false);
});

test('changes made while one is being saved go out after it, in one', async () => {
  const { open, saved, saveEdits } = await opened();
  open.cut('a1');
  open.cut('a2');
  open.maskText('a3');
  expect(await open.save()).toBe(true);
  expect(saved()).toMatchObject({ version: 2, cuts: ['a1', 'a2'], masked_texts: ['a3'] });
  expect(saveEdits).toHaveBeenCalledTimes(2);
});

test('a change made while the edits are still being read stays', async () => {
  const { open, saved } = await opened();
  let answer!: (edits: Edits) => void;
  vi.spyOn(open.app.api, 'edits').mockReturnValueOnce(new Promise((resolve) => (answer = resolve)));
  const reading = open.open();
  await Promise.resolve();
  open.cut('a2');
  answer(noEdits());
  await reading;
  await vi.waitFor(() => expect(open.saving).toBe(false));
  expect(open.isCut('a2')).toBe(true);
  expect(saved().cuts).toEqual(['a2']);
});

test('own words are kept, and those of the recording come back when emptied', async () => {
  const { open } = await opened();
  const first = open.actions[0];
  if (!first) throw new Error('no action');
  open.reword(first, '  Log in  ');
  expect(open.words(first)).toBe('Log in');
  open.reword(first, '');
  expect(open.words(first)).toBe('Step 1');
  expect(open.edits.words).toEqual({});
});

test('words that are left as they are change nothing', async () => {
  const { open } = await opened();
  const first = open.actions[0];
  if (first) open.reword(first, 'Step 1');
  expect(open.canUndo).toBe(false);
});

test("somebody else's change is shown and said, not overwritten", async () => {
  const { open, saved, others } = await opened();
  others({ ...noEdits(), version: 7, cuts: ['a3'] });
  open.cut('a1');
  await open.save();
  await vi.waitFor(() => expect(open.edits.version).toBe(7));
  expect(saved().cuts).toEqual(['a3']);
  expect(open.trouble).not.toBe('');
});

test('a save that fails keeps the change and says so; trying again saves it', async () => {
  const { open, saved, saveEdits } = await opened();
  saveEdits.mockRejectedValueOnce(new Problem(0, ''));
  open.cut('a1');
  expect(await open.save()).toBe(false);
  expect(open.isCut('a1')).toBe(true);
  expect(open.trouble).not.toBe('');
  expect(await open.save()).toBe(true);
  expect(saved().cuts).toEqual(['a1']);
  expect(open.trouble).toBe('');
});

test('a step is timed by its tick, and suggested with what was seen', async () => {
  const { open } = await opened();
  expect(open.stepTime(0)).toBe(5e9);
  expect(open.stepTime(4)).toBeUndefined();
  expect(open.suggested(1)?.action?.action_id).toBe('a2');
});

test('moving through steps stops at both ends', async () => {
  const { open } = await opened();
  open.move(1);
  expect(open.selected).toBe('a1');
  open.move(-1);
  expect(open.selected).toBe('a1');
  open.move(5);
  expect(open.selected).toBe('a3');
});
