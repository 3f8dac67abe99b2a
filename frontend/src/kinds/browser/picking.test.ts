import { beforeEach, expect, test, vi } from 'vitest';
import { Problem } from '../../backend/http';
import { emptyForm } from '../../lib/answer';
import { action, recording } from '../../lib/recording.testing';
import { sampleOperation } from '../../lib/sample.testing';
import type { Action, Recording } from '../../lib/wire';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { Picking } from './picking.svelte';
import type { OpenRecording } from '../../state/recording.svelte';

const running = recording({ state: 'recording', started_at: new Date().toISOString(), options: { browser: {} } });

/** An operation in a browser that is recorded, and the calls its picking makes. */
function picking(fields: Record<string, string> = {}): { picking: Picking; opened: { recording: Recording | null }; form: ReturnType<typeof emptyForm>; pick: ReturnType<typeof vi.fn>; showBrowser: ReturnType<typeof vi.fn>; touch: ReturnType<typeof vi.fn>; see: (...actions: Action[]) => void } {
  const form = { ...emptyForm(), fields };
  const pick = vi.fn(async () => undefined);
  const showBrowser = vi.fn(async () => undefined);
  const touch = vi.fn();
  const opened = {
    op: sampleOperation({ action_type: 'browser', details: { data_to_extract: ['plan', 'quota'] } }),
    draft: { form, touch, keptAt: '' }, recording: running as Recording | null, missing: '', app: { recorder: { paused: false, pick, showBrowser } },
  };
  const made = new Picking(opened as unknown as OpenOperation);
  return { picking: made, opened, form, pick, showBrowser, touch, see: (...actions) => made.follow({ recording: running, actions } as unknown as OpenRecording) };
}
const picked = (field: string, text: string): Action => action(1, { type: 'pick', at_ns: (Date.now() - Date.parse(running.started_at) + 5) * 1e6, pick: { field, take: 'element', text } });

let at: ReturnType<typeof picking>;
beforeEach(() => {
  at = picking();
});

test('the next pick goes to the field that was gone to, or the first empty one', () => {
  expect(at.picking.next).toBe('plan');
  at.picking.at = 'quota';
  expect(at.picking.next).toBe('quota');
  expect(picking({ plan: 'x' }).picking.next).toBe('quota');
  expect(picking({ plan: 'x', quota: 'y' }).picking.next).toBe('');
});

test('the page waits, the browser comes forward, and what comes fills the field and is kept', async () => {
  await at.picking.pick('plan');
  expect(at.pick).toHaveBeenCalledWith('plan', 'element');
  expect(at.showBrowser).toHaveBeenCalledOnce();
  expect(at.picking.waiting?.field).toBe('plan');
  at.see(picked('plan', 'Scale 2026'));
  expect(at.picking.waiting).toBeNull();
  expect(at.form.fields.plan).toBe('Scale 2026');
  expect(at.touch).toHaveBeenCalledOnce();
  at.see(picked('plan', 'Scale 2026'));
  expect(at.touch).toHaveBeenCalledOnce();
});

test('a selection is taken where it is: the browser need not come forward', async () => {
  at.picking.takes.set('quota', 'selection');
  await at.picking.pick('quota');
  expect(at.pick).toHaveBeenCalledWith('quota', 'selection');
  expect(at.showBrowser).not.toHaveBeenCalled();
});

test('what was picked before does not end the waiting for what comes', async () => {
  const before = picked('plan', 'old');
  before.at_ns = -1e9;
  await at.picking.pick('plan');
  at.see(before);
  expect(at.picking.waiting?.field).toBe('plan');
});

test('a refusal ends the waiting and is said', async () => {
  at.pick.mockRejectedValueOnce(new Problem(409, 'There is no page to pick from.'));
  await at.picking.pick('plan');
  expect(at.picking.waiting).toBeNull();
  expect(at.picking.trouble).toContain('no page to pick from');
});

test('cancelling tells the page', async () => {
  await at.picking.pick('plan');
  await at.picking.cancel();
  expect(at.pick).toHaveBeenLastCalledWith('');
  expect(at.picking.waiting).toBeNull();
});

test('a cancel and the pick after it reach the page in their order, and it is clicked once the page waits', async () => {
  await at.picking.pick('plan');
  let cancelled = (): void => undefined;
  at.pick.mockImplementationOnce(() => new Promise<void>((done) => { cancelled = done; }));
  const cancel = at.picking.cancel();
  const again = at.picking.pick('plan');
  await Promise.resolve();
  await Promise.resolve();
  expect(at.pick).toHaveBeenCalledTimes(2);
  expect(at.picking.ready).toBe(false);
  cancelled();
  await Promise.all([cancel, again]);
  expect(at.pick).toHaveBeenLastCalledWith('plan', 'element');
  expect(at.picking.ready).toBe(true);
});

test('nothing is picked while nothing is recorded', async () => {
  at.opened.recording = null;
  const still = picking();
  still.opened.recording = null;
  await still.picking.pick('plan');
  expect(still.pick).not.toHaveBeenCalled();
});

test('typing corrects, and what was picked comes back when it is put back', () => {
  at.see(picked('plan', '8.4M'));
  at.form.fields.plan = '8,412,903';
  at.picking.typed('plan');
  expect(at.form.field_sources.plan?.corrected).toBe(true);
  at.picking.restore('plan');
  expect(at.form.fields.plan).toBe('8.4M');
  expect(at.form.field_sources.plan?.corrected).toBeUndefined();
});

test('fields of their own stand after those that were asked for', () => {
  at.picking.add(' owner ');
  at.picking.add('plan');
  at.picking.add('steps_done');
  expect(at.picking.fields.map((field) => field.name)).toEqual(['plan', 'quota', 'owner']);
  expect(at.picking.next).toBe('owner');
});
