import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Notice } from '../backend/shell';
import { sampleOperation } from '../lib/sample.testing';
import type { Operation, StoppedRun } from '../lib/wire';
import type { AppState } from './app.svelte';

const shown: Notice[] = [];
const dismissed: string[] = [];
let stops: StoppedRun[] = [];
vi.mock('../backend/shell', () => ({
  shell: {
    desktop: true,
    dismiss: (id: string) => {
      dismissed.push(id);
      return Promise.resolve();
    },
    notify: (notice: Notice) => {
      shown.push(notice);
      return Promise.resolve(true);
    },
  },
}));
const { appWindow, layout } = vi.hoisted(() => ({
  appWindow: {
    mode: 'popup', moved: 0, quiet: { on: false, critical: true },
    shows: (risk: string | undefined): boolean => !appWindow.quiet.on || (appWindow.quiet.critical && risk === 'critical'),
  },
  layout: { visible: true, focused: false },
}));
vi.mock('./window.svelte', () => ({ appWindow }));
vi.mock('./layout.svelte', () => ({ layout }));
const { Notices } = await import('./notices.svelte');
const { ticker } = await import('./ticker.svelte');

const noon = new Date('2026-11-26T12:00:00Z').getTime();
const minute = 60_000;

/** A window over requests, whose cards are up; `at` is the minute that it is. */
function desk(ops: Operation[], settings: Record<string, unknown> = {}): { at: (minutes: number) => Promise<string[]>; all: Map<string, Operation> } {
  const all = new Map(ops.map((op) => [op.operation_id, op]));
  const values = { 'notifications.enabled': true, 'notifications.after': 3600, 'notifications.repeat_minutes': 2, 'notifications.repeat_times': 2, ...settings };
  const app = {
    attempts: { open: [] }, operations: { all },
    get stopped() {
      return stops;
    },
    stopOf: (id: string) => stops.find(({ operation_id }) => operation_id === id), route: { page: 'inbox' }, deliveries: { touched: 0, shown: () => undefined },
    get ringing() {
      return [...all.values()];
    },
    api: { settings: () => Promise.resolve({ settings: Object.entries(values).map(([key, value]) => ({ key, value })) }) },
  };
  const notices = new Notices(app as unknown as AppState);
  return {
    all,
    at: async (minutes) => {
      shown.length = 0;
      vi.setSystemTime(noon + minutes * minute);
      ticker.now = Date.now();
      notices.follow();
      await vi.advanceTimersByTimeAsync(0);
      return shown.filter((notice) => notice.again).map((notice) => notice.id);
    },
  };
}

const op = (id: string, more: Partial<Operation> = {}): Operation => ({ ...sampleOperation(), operation_id: id, state: 'pending', created_at: new Date(noon).toISOString(), ...more });

beforeEach(() => {
  vi.useFakeTimers({ now: noon });
  appWindow.mode = 'popup';
  appWindow.quiet = { on: false, critical: true };
  layout.visible = true;
});
afterEach(() => {
  vi.useRealTimers();
  stops = [];
  dismissed.length = 0;
});

test('what nobody has seen is shown again, as often as the settings say', async () => {
  const { at } = desk([op('op_a')]);
  expect(await at(0)).toEqual([]);
  expect(await at(1.9)).toEqual([]);
  expect(await at(2)).toEqual(['op_a']);
  expect(shown.find((notice) => notice.again)).toMatchObject({ title: expect.stringContaining('Still waiting') as string, body: expect.stringContaining('unseen for') as string });
  expect(await at(2.1)).toEqual([]);
  expect(await at(4)).toEqual(['op_a']);
  expect(await at(60)).toEqual([]);
});

test('one notification stands for all that are due: the most urgent', async () => {
  const { at } = desk([op('op_a', { priority: 1 }), op('op_b', { priority: 9 })]);
  await at(0);
  expect(await at(2)).toEqual(['op_b']);
  expect(shown.find((notice) => notice.again)?.body).toContain('and one more');
});

test('what was seen is not shown again, but once it comes back from being snoozed', async () => {
  const { at, all } = desk([op('op_a')]);
  await at(0);
  const seen = [{ channel: 'card', seen: new Date(noon + minute).toISOString() }];
  all.set('op_a', op('op_a', { deliveries: seen }));
  expect(await at(2)).toEqual([]);
  all.set('op_a', op('op_a', { deliveries: seen, snoozed_until: new Date(noon + 30 * minute).toISOString() }));
  expect(await at(30)).toEqual([]);
  expect(await at(32)).toEqual(['op_a']);
});

test('a restart shows nothing at once that was due before', async () => {
  const { at } = desk([op('op_a')]);
  expect(await at(3)).toEqual([]);
  expect(await at(4)).toEqual(['op_a']);
});

test('who is not to be disturbed is not, and afterwards once', async () => {
  const { at } = desk([op('op_a'), op('op_b', { risk: 'critical' })]);
  await at(0);
  appWindow.quiet = { on: true, critical: true };
  expect(await at(2)).toEqual(['op_b']);
  expect(await at(10)).toEqual(['op_b']);
  appWindow.quiet = { on: false, critical: true };
  expect(await at(11)).toEqual(['op_a']);
  expect(await at(20)).toEqual([]);
});

test('nothing is shown again where the settings say so, nor beside the inbox in front', async () => {
  const off = desk([op('op_a')], { 'notifications.repeat_minutes': 0 });
  await off.at(0);
  expect(await off.at(60)).toEqual([]);
  const { at } = desk([op('op_a')]);
  await at(0);
  appWindow.mode = 'console';
  layout.focused = true;
  expect(await at(2)).toEqual([]);
  layout.focused = false;
  expect(await at(3)).toEqual(['op_a']);
});

test('a run that stops rings once for each stop, with where and why, until it continues', async () => {
  const run = op('op_run', { state: 'claimed', description: 'Export an invoice' });
  const stop = (n: number): StoppedRun => ({ operation_id: 'op_run', procedure: 'export_invoice', number: 3, title: 'Search for Nordwind', stops: n, stop: { step: 's3', expected: { text: 'button "Search" is on the page.' }, found: { text: 'It is not there.' } } }) as StoppedRun;
  const { at } = desk([run], { 'notifications.repeat_times': 0 });
  appWindow.mode = 'recorder';
  layout.visible = false;
  await at(0);
  expect(shown).toEqual([]);
  stops = [stop(1)];
  await at(1);
  expect(shown).toEqual([]); // its card may appear yet
  await at(1.1);
  expect(shown).toEqual([expect.objectContaining({ id: 'stop:op_run', again: true, title: expect.stringContaining('stopped at step 3') as string, body: expect.stringMatching(/Search for Nordwind[^]*"Search" is on the page[^]*not there/) as string })]);
  await at(2);
  expect(shown).toEqual([]);
  stops = [];
  await at(3);
  expect(dismissed).toEqual(['stop:op_run']);
  appWindow.quiet = { on: true, critical: true };
  stops = [stop(2)];
  await at(4);
  await at(5);
  expect(shown).toEqual([]);
  appWindow.quiet = { on: false, critical: true };
  await at(6);
  await at(7);
  expect(shown).toEqual([expect.objectContaining({ id: 'stop:op_run' })]);
});
