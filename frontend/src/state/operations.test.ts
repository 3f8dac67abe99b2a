import { describe, expect, test } from 'vitest';
import type { Api } from '../backend/api';
import { Problem } from '../backend/http';
import { sampleOperation as op } from '../lib/sample.testing';
import type { Live, Operation } from '../lib/wire';
import { Operations } from './operations.svelte';

/** A server whose answers are given by hand. */
function server(): { operations: Operations; asked: string[]; answer: (o: Operation) => Promise<void> } {
  const asked: string[] = [];
  const waiting: ((o: Operation) => void)[] = [];
  const api = {
    operation: (id: string) => {
      asked.push(id);
      return new Promise<Operation>((resolve) => waiting.push(resolve));
    },
  } as unknown as Api;
  return {
    operations: new Operations(api),
    asked,
    async answer(o) {
      waiting.shift()?.(o);
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

const event = (version: number, type: 'claimed' | 'removed' = 'claimed'): Live => ({ type, seq: version, at: '2026-01-01T00:00:00Z', operation_id: 'op_1', version, by: { role: 'operator' }, data: {} });

describe('operations', () => {
  test('are asked for again when an event tells of a newer version', async () => {
    const s = server();
    s.operations.hear(event(2));
    await s.answer(op({ version: 2, state: 'claimed' }));
    expect(s.operations.all.get('op_1')?.state).toBe('claimed');
  });

  test('many events make one more question, not many', async () => {
    const s = server();
    for (const version of [2, 3, 4, 5]) s.operations.hear(event(version));
    expect(s.asked).toHaveLength(1);
    await s.answer(op({ version: 4 }));
    await s.answer(op({ version: 5 }));
    expect(s.asked).toHaveLength(2);
    expect(s.operations.all.get('op_1')?.version).toBe(5);
  });

  test('are dropped when they were removed, and it is known why', async () => {
    const api = { operation: () => Promise.reject(new Problem(404, 'operation op_1 was removed on 2026-11-26 by retention')) } as unknown as Api;
    const operations = new Operations(api);
    operations.take(op({ version: 2, details: { action: 'x' } }));
    operations.hear(event(3, 'removed'));
    expect(operations.all.has('op_1') || operations.whole.has('op_1')).toBe(false);
    expect(operations.missing.size).toBe(0);
    operations.need('op_1');
    await new Promise((resolve) => setImmediate(resolve));
    expect(operations.missing.get('op_1')).toContain('2026-11-26');
  });

  test('never go back to an older version', () => {
    const s = server();
    s.operations.take(op({ version: 7, state: 'completed' }));
    s.operations.take(op({ version: 3, state: 'pending' }));
    expect(s.operations.all.get('op_1')?.state).toBe('completed');
  });

  test('keep the details a list leaves out', () => {
    const s = server();
    s.operations.take(op({ version: 1, details: { action: 'x' } }));
    s.operations.take(op({ version: 2, state: 'claimed' }));
    expect(s.operations.all.get('op_1')).toMatchObject({ state: 'claimed', details: { action: 'x' } });
  });

  test('an event that is known asks nothing', () => {
    const s = server();
    s.operations.take(op({ version: 5 }));
    s.operations.hear(event(4));
    expect(s.asked).toEqual([]);
  });

  test('presence is kept beside them', () => {
    const s = server();
    s.operations.hear({ type: 'presence', operation_id: 'op_1', waiting: true });
    expect(s.operations.presence.get('op_1')?.waiting).toBe(true);
  });
});
