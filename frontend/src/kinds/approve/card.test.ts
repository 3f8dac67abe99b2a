import { expect, it } from 'vitest';
import type { Operation } from '../../lib/wire';
import { approve } from './index';

it('is approved on a card only where nothing came with it that the card does not show', () => {
  const op = (files: number): Operation => ({ action_type: 'approve', attachments: Array.from({ length: files }, () => ({})) }) as unknown as Operation;
  const on = (command: string, files: number): boolean | undefined => approve.onCard?.(command, op(files), {} as never);
  expect([on('approve', 0), on('approve', 1), on('deny', 1)]).toEqual([true, false, true]);
  expect(approve.onCard?.('approve', { action_type: 'approve', to: 'ada' } as Operation, {} as never)).toBe(false);
});
