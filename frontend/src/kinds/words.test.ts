import { expect, test } from 'vitest';
import { sampleOperation } from '../lib/sample.testing';
import type { TimelineEvent } from '../lib/wire';
import { both } from '../state/locale.testing';
import { loadSentences } from '../state/sentences.svelte';
import { eventSentence } from './words';

test('the events of a team are sentences, and one that is not known is its name', async () => {
  await loadSentences();
  const event = (type: string, data: TimelineEvent['data'], by = 'Mei'): TimelineEvent =>
    ({ type: type as TimelineEvent['type'], data, by: { role: 'operator', name: by }, seq: 1, at: '', operation_id: 'op_1', version: 2 });
  const says = (of: TimelineEvent): string[] => both(() => eventSentence(of, 'Tom', sampleOperation()));
  expect(says(event('handed_over', { to: 'Priya', text: 'backup checked' }))).toEqual(['Mei handed over to Priya: backup checked', 'Mei 已转交给 Priya：backup checked']);
  expect(says(event('handed_over', { to: 'Priya' }))).toEqual(['Mei handed over to Priya', 'Mei 已转交给 Priya']);
  expect(says(event('approved_first', {}))[0]).toBe('Mei approved as the first of two');
  expect(says(event('approved_first', {}, 'Tom'))).toEqual(['You approved as the first of two', '你已作出两次批准中的第一次']);
  expect(says(event('routed', { routing: { step: 1, names: ['Mei', 'Tom'], reason: { text: 'Everyone.' }, at: '' } }))[0]).toBe('Routed to Mei, Tom: Everyone.');
  expect(says(event('recording_began', {}))).toEqual(['Recording started', '录制已开始']);
  expect(says(event('recording_dropped', {}))).toEqual(['Recording deleted', '录制已删除']);
  expect(says(event('from_a_later_version', {}))[0]).toBe('from_a_later_version');
});
