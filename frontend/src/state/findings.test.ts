import { beforeAll, expect, test, vi } from 'vitest';
import type { Api } from '../backend/api';
import { draft as made, finding } from '../lib/findings.testing';
import { sampleOperation } from '../lib/sample.testing';
import type { Answer, Drafts, Summary } from '../lib/wire';
import type { AppState } from './app.svelte';
import { Draft } from './draft.svelte';
import { Findings } from './findings.svelte';
import { Unsent } from './unsent.svelte';

const stored = new Map<string, string>();
beforeAll(() => {
  vi.stubGlobal('localStorage', { getItem: (key: string) => stored.get(key) ?? null, setItem: (key: string, value: string) => stored.set(key, value), removeItem: (key: string) => stored.delete(key) });
});

/** Findings over a server with these drafts, that keeps what is saved. */
async function sift(all: Partial<Drafts> = {}, start: Partial<Summary> = {}) {
  stored.clear();
  const saved: Answer[] = [];
  const api = {
    drafts: () => Promise.resolve({ summaries: [made()], chosen: ['browser'], fitting: ['browser', 'model'], stale: [], language: 'en', ...all }),
    startDraft: (_id: string, { with: summarizer = 'browser' }) => Promise.resolve(made({ summary_id: 'sum_2', state: 'running', summarizer, ...start })),
    input: (_id: string, answer: Answer) => (saved.push(answer), Promise.resolve()),
  } as unknown as Api;
  const app = { api, unsent: new Unsent() } as unknown as AppState;
  const op = sampleOperation();
  const it = new Findings(app, op.operation_id, new Draft(api, 'mei', op));
  await it.load();
  return { it, saved, app, again: () => new Findings(app, op.operation_id, it.draft), texts: () => it.draft.form.findings.map((one) => (one.cut ? '-' : '') + one.text) };
}
const three = ['Plan is Scale 2026', '8,412,903 used', 'Renewal date: not found'];

test('the first draft is what one begins with, and is no change', async () => {
  const { it, texts, saved } = await sift();
  expect([texts(), it.touched]).toEqual([three, false]);
  await it.draft.save();
  expect(saved).toEqual([]);
});

test('the one that was chosen is waited for while it is made', async () => {
  const { it, texts } = await sift({ summaries: [made({ summary_id: 'sum_0', summarizer: 'answer' }), made({ state: 'running' })] });
  expect(texts()).toEqual([]);
  it.hear(made());
  expect(texts()).toEqual(three);
});

test('what is edited, cut, moved and added is saved, and counted against the draft', async () => {
  const { it, texts, saved } = await sift();
  it.edit('findings', 0);
  it.write('Plan is Scale');
  it.keep();
  it.cut('findings', 1);
  expect(it.move('findings', 1, 0)).toBe(true);
  expect(it.move('findings', 1, 2)).toBe(false); // what was cut stays last
  it.add('findings');
  it.write('Noted');
  it.keep();
  expect(texts()).toEqual([three[2], 'Plan is Scale', 'Noted', `-${three[1]}`]);
  expect([it.changes, it.count('findings')]).toEqual([{ edited: 1, cut: 1, added: 1 }, { sent: 3, cut: 1 }]);
  await it.draft.save();
  expect(saved.at(-1)?.findings?.find((one) => one.cut)?.text).toBe(three[1]);
  it.putBack('findings', 3);
  expect(texts().at(-1)).toBe(three[1]);
});

test('what is given up leaves no trace; an empty new one is none', async () => {
  const { it, texts } = await sift();
  it.edit('findings', 0);
  it.write('x');
  it.giveUp();
  it.add('findings');
  it.keep();
  it.add('suggestions');
  it.write('y');
  it.giveUp();
  expect([texts(), it.draft.form.suggestions.length, it.touched]).toEqual([three, 1, false]);
});

test('what is being written outlives the page', async () => {
  const { it, again } = await sift();
  it.edit('findings', 1);
  it.write('Half a sent');
  expect(again().editing).toEqual({ list: 'findings', at: 1, text: 'Half a sent' });
});

test('asked again with nothing changed, the new draft takes its place; else it stands beside', async () => {
  const fresh = made({ summary_id: 'sum_2', report: { ...made().report, findings: [finding('f1', 'New')] } });
  const { it, texts } = await sift();
  await it.start({ with: 'browser' });
  it.hear(fresh);
  expect([texts(), it.beside]).toEqual([['New'], '']);

  const other = await sift();
  other.it.cut('findings', 0);
  await other.it.start({ with: 'browser' });
  other.it.hear(fresh);
  expect([other.texts().length, other.it.beside, other.it.newer?.summary_id]).toEqual([3, 'browser', 'sum_2']);
  other.it.take('findings', finding('f1', 'New'));
  other.it.take('findings', finding('f1', 'New'));
  expect(other.texts().filter((text) => text === 'New')).toHaveLength(1);
  other.it.startOver(fresh);
  expect(other.texts()).toEqual(['New', 'New']); // what was taken over is the operator's own
});

test('a word that comes late does not make a draft run again', async () => {
  const { it } = await sift();
  it.hear(made({ state: 'running' }));
  expect([it.running, it.base?.state]).toEqual([undefined, 'done']);
});

test('several that were chosen stand side by side; one that failed says so', async () => {
  const { it } = await sift({ summaries: [made(), made({ summary_id: 'sum_2', summarizer: 'model', state: 'failed', problem: 'no key' })], chosen: ['browser', 'model'] });
  expect([it.beside, it.other?.problem, it.failed?.summarizer]).toEqual(['model', 'no key', 'model']);
});
