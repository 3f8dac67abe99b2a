import { afterEach, expect, test, vi } from 'vitest';
import { loadOrReload } from './loading';

afterEach(() => vi.unstubAllGlobals());

/** A window that counts how often its page was reloaded. */
function page(): { reloads: number; history: { state: unknown } } {
  const at = { reloads: 0, history: { state: null as unknown, replaceState: (state: unknown) => (at.history.state = state) }, location: { reload: () => (at.reloads += 1) } };
  vi.stubGlobal('window', at);
  return at;
}

test('a page that cannot start is reloaded, three times at most', async () => {
  const at = page();
  const fails = (): Promise<never> => Promise.reject(new Error('cut off'));
  for (const times of [1, 2, 3]) {
    void loadOrReload(fails);
    await vi.waitFor(() => expect(at.reloads).toBe(times));
  }
  await expect(loadOrReload(fails)).rejects.toThrow('cut off');
  expect(at.reloads).toBe(3);
});

test('a page that can start is not', async () => {
  const at = page();
  await expect(loadOrReload(() => Promise.resolve(7))).resolves.toBe(7);
  expect(at.reloads).toBe(0);
});
