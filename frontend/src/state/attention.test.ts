import { expect, test } from 'vitest';
import type { Api } from '../backend/api';
import type { AttentionReport } from '../lib/wire';
import { Attention } from './attention.svelte';

test('counts the days that the address has, and shows what was asked for last', async () => {
  const route = { step: '90', go: (_page: string, _id?: string, step = '') => void (route.step = step) };
  const answers: Record<number, (report: AttentionReport) => void> = {};
  const api = { attention: ({ days }: { days: number }) => new Promise<AttentionReport>((resolve) => (answers[days] = resolve)) } as unknown as Api;
  const report = (zone: string): AttentionReport => ({ zone }) as AttentionReport;

  const slow = new Attention(api, route);
  expect(slow.days).toBe(90);
  const first = slow.load();
  slow.show(30);
  expect(route.step).toBe('');
  const attention = new Attention(api, { ...route, step: '31' });
  expect(attention.days).toBe(30);

  answers[90]?.(report('90'));
  await first;
  expect(slow.report?.zone).toBe('90');

  const early = attention.load();
  const old = answers[30];
  const late = attention.load();
  answers[30]?.(report('late'));
  await late;
  old?.(report('early'));
  await early;
  expect(attention.report?.zone).toBe('late');
  expect(attention.loading).toBe(false);
});
