import { expect, test, vi } from 'vitest';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import { recording } from '../lib/recording.testing';
import { sampleOperation } from '../lib/sample.testing';
import type { Recording, SettingList } from '../lib/wire';
import type { Answering } from './answering.svelte';
import { Recorder } from './recorder.svelte';

const runs = (of: Partial<Recording> = {}): Recording => recording({ state: 'recording', complete: false, ...of });

function recorder(api: Partial<Api> = {}, claims = true): { recorder: Recorder; claim: ReturnType<typeof vi.fn> } {
  const claim = vi.fn(() => Promise.resolve(claims));
  return { recorder: new Recorder({ recorder: () => Promise.resolve({ sources: [], current: null }), ...api } as unknown as Api, { claim } as unknown as Answering), claim };
}

test('recording an operation that nobody has claimed claims it first', async () => {
  const record = vi.fn(() => Promise.resolve(runs()));
  const { recorder: r, claim } = recorder({ record });
  r.options.folders = ['/tmp/x'];
  expect(await r.start(sampleOperation(), 'mei')).toBe(true);
  expect(claim).toHaveBeenCalledWith('op_1');
  expect(record).toHaveBeenCalledWith('op_1', { folders: ['/tmp/x'], pictures: true });
  expect(r.on('op_1')?.recording_id).toBe('rec_1');
});

test('what the settings say is shown, and left to them unless it is chosen otherwise', async () => {
  const record = vi.fn(() => Promise.resolve(runs()));
  const settings = (): Promise<SettingList> => Promise.resolve({ settings: [{ key: 'recording.folders', value: ['~/work'] }, { key: 'recording.clipboard', value: 'off' }] as SettingList['settings'] });
  const { recorder: r } = recorder({ record, settings });
  await r.usual();
  expect(r.options).toMatchObject({ folders: ['~/work'], clipboard: 'off' });
  await r.start(sampleOperation(), 'mei');
  expect(record).toHaveBeenLastCalledWith('op_1', { pictures: true });
  r.options.folders = [];
  r.options.clipboard = 'content';
  await r.start(sampleOperation(), 'mei');
  expect(record).toHaveBeenLastCalledWith('op_1', { folders: [], clipboard: 'content', pictures: true });
});

test('one that is claimed already is not claimed again', async () => {
  const { recorder: r, claim } = recorder({ record: () => Promise.resolve(runs()) });
  await r.start(sampleOperation({ claimed_by: 'mei' }), 'mei');
  expect(claim).not.toHaveBeenCalled();
});

test('nothing is recorded when the claim fails', async () => {
  const record = vi.fn();
  const { recorder: r } = recorder({ record }, false);
  await r.start(sampleOperation(), 'mei');
  expect(record).not.toHaveBeenCalled();
});

test('a late word of a recording that has ended does not bring it back', () => {
  const { recorder: r } = recorder();
  r.hear({ type: 'recording', recording: runs() });
  expect(r.current).not.toBeNull();
  r.hear({ type: 'recording', recording: recording() });
  r.hear({ type: 'recording', recording: runs() });
  expect(r.current).toBeNull();
  expect(r.known.get('rec_1')?.state).toBe('stopped');
});

test('what was discarded elsewhere is gone here, and stays gone', () => {
  const { recorder: r } = recorder();
  r.hear({ type: 'recording', recording: runs() });
  r.hear({ type: 'recording_gone', recording_id: 'rec_1' });
  r.hear({ type: 'recording', recording: runs() });
  expect(r.current).toBeNull();
  expect(r.of(sampleOperation({ recordings: ['rec_1'] }))).toEqual([]);
});

test('a recording is stopped after the notes that were made before', async () => {
  let marked: (now: Recording) => void = () => undefined;
  const markRecording = (): Promise<Recording> => new Promise((resolve) => (marked = resolve));
  const stopRecording = vi.fn(() => Promise.resolve(recording()));
  const { recorder: r } = recorder({ markRecording, stopRecording });
  r.hear({ type: 'recording', recording: runs() });
  r.tick(0, true);
  const stopped = r.stop();
  await Promise.resolve();
  expect(stopRecording).not.toHaveBeenCalled();
  marked(runs());
  expect(await stopped).toBe(true);
  expect(r.current).toBeNull();
});

test('a recording is leaving from the moment it is thrown away, unless that is refused', async () => {
  let answer: (refusal?: Problem) => void = () => undefined;
  const discardRecording = (): Promise<void> => new Promise((resolve, reject) => (answer = (refusal) => (refusal ? reject(refusal) : resolve())));
  const { recorder: r } = recorder({ discardRecording });
  r.hear({ type: 'recording', recording: runs() });
  expect(r.leaving('rec_1')).toBe(false);
  const refused = r.discard();
  expect(r.leaving('rec_1')).toBe(true);
  answer(new Problem(503, 'busy'));
  expect(await refused).toBe(false);
  expect(r.leaving('rec_1')).toBe(false);
  r.hear({ type: 'recording', recording: runs() });
  const done = r.discard();
  answer();
  expect(await done).toBe(true);
  expect(r.leaving('rec_1')).toBe(true);
});

test('a recording that is asked for and not there is said to be missing, until it is heard of', async () => {
  const { recorder: r } = recorder({ recording: () => Promise.reject(new Problem(404, 'none')) });
  await r.need('rec_9');
  expect(r.gone.has('rec_9')).toBe(true);
  // Asked a moment too early: what is heard of it later counts.
  r.hear({ type: 'recording', recording: runs({ recording_id: 'rec_9' }) });
  expect(r.current?.recording_id).toBe('rec_9');
  expect(r.gone.has('rec_9')).toBe(false);
});

test('a refusal is said, and what really is gets read again', async () => {
  const read = vi.fn(() => Promise.resolve({ sources: [], current: null }));
  const { recorder: r } = recorder({ recorder: read, pauseRecording: () => Promise.reject(new Problem(409, 'It has ended.')) });
  r.hear({ type: 'recording', recording: runs() });
  expect(await r.pause()).toBe(false);
  expect(r.trouble).toBe('It has ended.');
  await vi.waitFor(() => expect(r.current).toBeNull());
});

test('a tick is timed and told to the recording; taking it back forgets the time', async () => {
  const mark = vi.fn(() => Promise.resolve(runs()));
  const { recorder: r } = recorder({ markRecording: mark });
  r.hear({ type: 'recording', recording: runs({ state: 'paused', elapsed_ns: 21e9 }) });
  r.tick(0, true);
  expect(r.ticks.get('rec_1 0')).toBe(21e9);
  await vi.waitFor(() => expect(r.busy).toBe(false));
  r.tick(0, false);
  expect(r.ticks.has('rec_1 0')).toBe(false);
  expect(mark.mock.calls).toEqual([['rec_1', { step: 0, done: true }], ['rec_1', { step: 0, done: false }]]);
});

test('a list, which is as old as what is stored, changes nothing about the one that runs', () => {
  const { recorder: r } = recorder();
  r.hear({ type: 'recording', recording: runs({ state: 'paused' }) });
  r.take([runs({ state: 'recording' })]);
  expect(r.paused).toBe(true);
  r.take([recording()]);
  expect(r.current).toBeNull();
});

test('the recordings of an operation come in the order they were begun', () => {
  const { recorder: r } = recorder();
  r.take([recording({ recording_id: 'rec_3' }), recording({ recording_id: 'rec_2' }), recording({ recording_id: 'rec_1', operation_id: 'op_2' })]);
  expect(r.of(sampleOperation()).map((one) => one.recording_id)).toEqual(['rec_2', 'rec_3']);
});
