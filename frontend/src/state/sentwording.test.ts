import { expect, test } from 'vitest';
import { sampleOperation as op } from '../lib/sample.testing';
import type { Operation } from '../lib/wire';
import { sentWords } from './sentwording';

const by = { role: 'operator', name: 'ada' } as const;
const at = '2026-01-02T10:05:00Z';
const answered = (decision: 'approve' | 'deny', over: Partial<Operation> = {}): Operation => op({ state: 'completed', result: { decision, by, at, digest: '' }, ...over });

test('an agent continues, and a person has the answer', () => {
  const person = { agent_id: '@Wen', requested_by: 'Wen', to: 'ada' };
  expect(sentWords([answered('approve')])).toBe('Approved: release-bot continues');
  expect(sentWords([answered('deny')])).toBe('Denied: sent to release-bot');
  expect(sentWords([answered('approve', person)])).toBe('Approved: sent to Wen');
  expect(sentWords([answered('deny', person)])).toBe('Denied: sent to Wen');
  expect(sentWords([op({ ...person, leaving: { declined: 'no', by, at, leaves_at: at, version: 2 } })])).toBe('Declined: sent to Wen in a moment');
  expect(sentWords([op({ ...person, state: 'cancelled', ended: { by, at } })])).toBe('Wen canceled the request. Nothing was sent.');
});
