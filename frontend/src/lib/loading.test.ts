import { afterEach, expect, test, vi } from 'vitest';
import { loadOrStartAnew } from './loading';

afterEach(() => vi.unstubAllGlobals());

/** A window that counts how often its page was loaded anew. */
function page(): { anew: number; history: { state: unknown } } {
  const at = { anew: 0, history: { state: null as unknown, replaceState: (state: unknown) => (at.history.state = state) }, location: { reload: () => (at.anew += 1) } };
  vi.stubGlobal('window', at);
  return at;
}

test('a page that cannot start is loaded anew, three times at most', async () => {
  const at = page();
  const fails = (): Promise<never> => Promise.reject(new Error('cut off'));
  for (const times of [1, 2, 3]) {
    void loadOrStartAnew(fails);
    await vi.waitFor(() => expect(at.anew).toBe(times));
  }
  await expect(loadOrStartAnew(fails)).rejects.toThrow('cut off');
  expect(at.anew).toBe(3);
});

test('a page that can start is not', async () => {
  const at = page();
  await expect(loadOrStartAnew(() => Promise.resolve(7))).resolves.toBe(7);
  expect(at.anew).toBe(0);
});
