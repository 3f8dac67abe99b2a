import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SvelteMap } from 'svelte/reactivity';
import { sampleOperation } from '../lib/sample.testing';
import type { Operation } from '../lib/wire';
import type { AppState } from './app.svelte';
import { ticker } from './ticker.svelte';

vi.mock('./window.svelte', () => ({ appWindow: { mode: 'console' } }));
const { SentAnswers, reasonKey } = await import('./sent.svelte');

const noon = new Date('2026-11-26T12:00:00Z').getTime();

/** A page that answers, on whose server an answer leaves after five seconds; undo says whether that still worked. */
function page(undone = true): { sent: InstanceType<typeof SentAnswers>; answer: (id: string, declined?: string) => void; unsent: Map<string, string>; went: string[]; pass: (seconds: number) => void } {
  const all = new SvelteMap<string, Operation>();
  const went: string[] = [];
  const unsent = new Map<string, string>();
  const app = {
    operator: 'ada', unsent, operations: { all }, inbox: { groups: [] }, route: { page: 'history', id: '', go: (_: string, id: string) => went.push(id) },
    draft: () => ({ follow: () => undefined }), wants: () => Promise.resolve(true),
    answering: {
      outcomes: new Map(undone ? [] : [['op_a', { kind: 'overtaken', message: 'it has left' }]]),
      undo: (id: string) => {
        const op = all.get(id);
        if (undone && op) all.set(id, { ...op, leaving: undefined });
        return Promise.resolve(undone);
      },
    },
  } as unknown as AppState;
  const sent = new SentAnswers(app);
  return {
    sent, went, unsent,
    answer: (id, declined) => {
      // The server's clock is an hour ahead.
      const at = Date.now() + 3600_000;
      const op = { ...sampleOperation(), operation_id: id, leaving: { declined, by: { role: 'operator', name: 'ada' }, at: new Date(at).toISOString(), leaves_at: new Date(at + 5000).toISOString(), version: 3 } } as Operation;
      all.set(id, op);
      sent.add(op);
    },
    pass: (seconds) => {
      vi.setSystemTime(Date.now() + seconds * 1000);
      ticker.now = Date.now();
    },
  };
}

beforeEach(() => {
  vi.useFakeTimers({ now: noon });
  ticker.now = noon;
});
afterEach(() => void vi.useRealTimers());

test('what was sent is said while it can be undone, and a while longer', () => {
  const { sent, answer, pass } = page();
  answer('op_a');
  expect(sent.current?.ids).toEqual(['op_a']);
  expect(sent.left(['op_a'])).toBe(5);
  pass(4);
  expect(sent.left(['op_a'])).toBe(1);
  pass(1);
  expect(sent.left(['op_a'])).toBe(0);
  expect(sent.current?.ids).toEqual(['op_a']);
  pass(3);
  expect(sent.current).toBeUndefined();
});

test('the newest is undone first, then the one before it', async () => {
  const { sent, answer, pass } = page();
  answer('op_a');
  pass(1);
  answer('op_b');
  await sent.undo(sent.current?.ids ?? []);
  expect(sent.current?.said).toBe('Undone. Your answer is a draft again.');
  sent.dismiss();
  expect(sent.current?.ids).toEqual(['op_a']);
  expect(sent.left(['op_a'])).toBe(4);
});

test('what was sent together is said and undone together', async () => {
  const { sent, answer } = page();
  await sent.together(() => {
    answer('op_a');
    answer('op_b');
    return Promise.resolve();
  });
  expect(sent.current?.ids).toEqual(['op_a', 'op_b']);
  await sent.undo(['op_a', 'op_b']);
  expect(sent.left(['op_a', 'op_b'])).toBe(0);
  sent.dismiss();
  expect(sent.current).toBeUndefined();
});

test('a decline that is undone is said so, and its reason is kept', async () => {
  const { sent, answer, unsent } = page();
  answer('op_a', 'not my desk');
  await sent.undo(['op_a']);
  expect(sent.current?.said).toBe('Undone. The request is open again.');
  expect(unsent.get(reasonKey(['op_a']))).toBe('not my desk');
  await sent.together(() => {
    answer('op_a', 'no time');
    answer('op_b', 'no time');
    return Promise.resolve();
  });
  await sent.undo(['op_a', 'op_b']);
  expect(sent.current?.said).toBe('Undone. 2 requests are open again.');
  expect(unsent.get(reasonKey(['op_a', 'op_b']))).toBe('no time');
});

test('an undo that came too late says so', async () => {
  const { sent, answer } = page(false);
  answer('op_a');
  await sent.undo(['op_a']);
  expect(sent.current?.said).toBe('it has left');
});

test('it stays while somebody is at it', () => {
  const { sent, answer, pass } = page();
  answer('op_a');
  sent.kept = true;
  pass(60);
  expect(sent.current?.ids).toEqual(['op_a']);
  sent.kept = false;
  expect(sent.current).toBeUndefined();
});
