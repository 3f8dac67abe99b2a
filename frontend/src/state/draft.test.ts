import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Api } from '../backend/api';
import { sampleOperation as op } from '../lib/sample.testing';
import type { Answer } from '../lib/wire';
import { Draft } from './draft.svelte';

/** A server that keeps drafts, and can be made to fail. */
function server(): { api: Api; saved: Answer[]; down: boolean } {
  const it = { saved: [] as Answer[], down: false, api: {} as Api };
  it.api = {
    input: (_id: string, answer: Answer) => {
      if (it.down) return Promise.reject(new Error('down'));
      it.saved.push(answer);
      return Promise.resolve(op());
    },
  } as unknown as Api;
  return it;
}

describe('a draft', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  const write = (draft: Draft, text: string): void => {
    draft.form.human_input = text;
    draft.touch();
  };

  test('is saved once typing pauses for 400 ms, not at every key', async () => {
    const s = server();
    const draft = new Draft(s.api, 'ada', op());
    write(draft, 'w');
    await vi.advanceTimersByTimeAsync(399);
    write(draft, 'wait');
    await vi.advanceTimersByTimeAsync(399);
    expect(s.saved).toEqual([]);
    await vi.advanceTimersByTimeAsync(1);
    expect(s.saved).toEqual([{ human_input: 'wait' }]);
    expect(draft.state).toBe('kept');
  });

  test('says so and tries again when it cannot be saved', async () => {
    const s = server();
    s.down = true;
    const draft = new Draft(s.api, 'ada', op());
    write(draft, 'wait');
    await vi.advanceTimersByTimeAsync(400);
    expect(draft.state).toBe('failed');
    s.down = false;
    await vi.advanceTimersByTimeAsync(3000);
    expect(s.saved).toEqual([{ human_input: 'wait' }]);
    expect(draft.state).toBe('kept');
  });

  test('is forgotten on the server when everything was deleted', async () => {
    const s = server();
    const draft = new Draft(s.api, 'ada', op({ draft: { human_input: 'old', by: { role: 'operator', name: 'ada' }, at: '' } }));
    write(draft, '');
    await vi.advanceTimersByTimeAsync(400);
    expect(s.saved).toEqual([{}]);
  });

  test('comes back after a restart, its own only', () => {
    const s = server();
    const saved = op({ draft: { human_input: 'kept', by: { role: 'operator', name: 'ada' }, at: '2026-01-02T10:00:00Z' } });
    expect(new Draft(s.api, 'ada', saved).form.human_input).toBe('kept');
    expect(new Draft(s.api, 'mei', saved).form.human_input).toBe('');
  });

  test('is not overwritten by an older one while somebody types', () => {
    const s = server();
    const draft = new Draft(s.api, 'ada', op());
    write(draft, 'new words');
    draft.follow(op({ draft: { human_input: 'older', by: { role: 'operator', name: 'ada' }, at: '' } }));
    expect(draft.form.human_input).toBe('new words');
  });

  test('is not overwritten by one of the same operator in another browser, saved or not', async () => {
    const s = server();
    const draft = new Draft(s.api, 'ada', op());
    write(draft, 'my words');
    await vi.advanceTimersByTimeAsync(400);
    draft.follow(op({ draft: { human_input: 'typed elsewhere', by: { role: 'operator', name: 'ada' }, at: '' } }));
    expect(draft.form.human_input).toBe('my words');
  });

  test('that was sent and undone is one again, with all that was typed here', async () => {
    const s = server();
    const draft = new Draft(s.api, 'ada', op());
    write(draft, 'quick');
    await vi.advanceTimersByTimeAsync(400);
    const leaving = { human_input: 'quick', by: { role: 'operator' as const, name: 'ada' }, at: '', leaves_at: '', version: 3 };
    draft.sent(true);
    draft.follow(op({ leaving }));
    expect(draft.state).toBe('none');
    draft.follow(op({ draft: { human_input: 'quick', by: leaving.by, at: '2026-01-02T10:00:00Z' } }));
    expect(draft.state).toBe('kept');
    expect(draft.form.human_input).toBe('quick');
    write(draft, 'slower');
    await vi.advanceTimersByTimeAsync(400);
    expect(s.saved.at(-1)).toEqual({ human_input: 'slower' });
  });

  test('is saved at once when the page is left', async () => {
    const s = server();
    const draft = new Draft(s.api, 'ada', op());
    write(draft, 'leaving');
    await draft.save(true);
    expect(s.saved).toEqual([{ human_input: 'leaving' }]);
  });

  test.each(['and more', 'first'])('what is being saved as the page is left does not keep %j from being sent', async (last) => {
    const sent: [Answer, boolean][] = [];
    const slow = { input: (_id: string, answer: Answer, leaving: boolean) => { sent.push([answer, leaving]); return new Promise(() => undefined); } } as unknown as Api;
    const draft = new Draft(slow, 'ada', op());
    write(draft, 'first');
    await vi.advanceTimersByTimeAsync(400);
    if (last !== 'first') write(draft, last);
    void draft.save(true);
    expect(sent).toEqual([[{ human_input: 'first' }, false], [{ human_input: last }, true]]);
  });
});
