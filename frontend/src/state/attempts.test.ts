import { expect, test, vi } from 'vitest';
import type { Api } from '../backend/api';
import type { Attempt } from '../lib/wire';
import { Attempts } from './attempts.svelte';
import { attemptTitle } from './attemptwording';
import { language } from './locale.svelte';

const attempt = (of: Partial<Attempt> = {}): Attempt => ({
  attempt_id: 'at_1', agent_id: 'infra', how: 'hook', first_at: '2026-11-23T14:16:03Z', last_at: '2026-11-23T14:16:03Z', count: 1, process: { pid: 7, started: 1 }, running: true,
  tries: [{ at: '2026-11-23T14:16:03Z', what: 'sign_in', limit: 'caller.sign_in', line: [] }], ...of,
});

test('an attempt comes up, grows, and goes when it is dismissed', async () => {
  const attempts = new Attempts({ attempts: () => Promise.resolve([]) } as unknown as Api);
  await attempts.load();
  attempts.hear({ type: 'attempt', attempt: attempt() });
  attempts.hear({ type: 'attempt', attempt: attempt({ attempt_id: 'at_2', agent_id: 'other' }) });
  attempts.hear({ type: 'attempt', attempt: attempt({ count: 9 }) });
  expect(attempts.open.map((a) => [a.attempt_id, a.count])).toEqual([['at_1', 9], ['at_2', 1]]);
  await attempts.loadPast();
  attempts.hear({ type: 'attempt', attempt: attempt({ dismissed_at: '2026-11-23T15:00:00Z' }) });
  expect(attempts.open.map((a) => a.attempt_id)).toEqual(['at_2']);
  expect(attempts.past?.map((a) => a.attempt_id)).toEqual(['at_1']);
  expect(attempts.of('at_1')?.dismissed_at).toBeTruthy();
});

test('revoking ends the agent first, and an attempt stays where that fails', async () => {
  const calls: string[] = [];
  const revokeAgent = vi.fn((name: string) => (calls.push(`revoke ${name}`), Promise.resolve()));
  const dismissAttempt = vi.fn((id: string) => (calls.push(`dismiss ${id}`), Promise.resolve()));
  const attempts = new Attempts({ revokeAgent, dismissAttempt } as unknown as Api);
  expect(await attempts.revoke(attempt())).toBe(true);
  expect(calls).toEqual(['revoke infra', 'dismiss at_1']);
  revokeAgent.mockRejectedValueOnce(new Error('no'));
  expect(await attempts.revoke(attempt())).toBe(false);
  expect(dismissAttempt).toHaveBeenCalledTimes(1);
});

test('its title names the worst try, in either language', async () => {
  const both = attempt({ tries: [...attempt().tries, { at: '2026-11-23T14:16:05Z', what: 'answer', limit: 'caller.answer', line: [] }] });
  await language.choose('en');
  expect(attemptTitle(attempt())).toBe('infra tried to sign in as you');
  expect(attemptTitle(both)).toBe('infra tried to answer requests');
  await language.choose('zh-CN');
  expect(attemptTitle(both)).toBe('infra 试图回答请求');
});
