import { expect, test, vi } from 'vitest';
import type { Placement, WindowMode } from '../backend/shell';

test('the window is asked for one thing after the other: carried out together they may change places', async () => {
  const asked: WindowMode[] = [];
  const answers: ((placed: Placement) => void)[] = [];
  vi.doMock('../backend/shell', () => ({
    shell: { desktop: true, mode: (mode: WindowMode) => new Promise<Placement>((resolve) => { asked.push(mode); answers.push(resolve); }) },
  }));
  const { appWindow } = await import('./window.svelte');
  const done = Promise.all([appWindow.popup(160), appWindow.hide()]);
  const placed = { width: 400, height: 160, pad: 0, transparent: false, turn: 0 };
  await vi.waitFor(() => expect(asked).toEqual(['popup']));
  answers[0]?.({ mode: 'popup', ...placed });
  await vi.waitFor(() => expect(asked).toEqual(['popup', 'hidden']));
  answers[1]?.({ mode: 'hidden', ...placed });
  await done;
  expect(appWindow.mode).toBe('hidden');
});
