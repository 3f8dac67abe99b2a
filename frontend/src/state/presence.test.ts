import { describe, expect, it, vi } from 'vitest';
import { sampleOperation } from '../lib/sample.testing';
import type { Api } from '../backend/api';
import { Presence } from './presence.svelte';

const asked = vi.hoisted(() => vi.fn());
vi.mock('../backend/stepup', () => ({ StepUpApi: class { read = asked; } }));

const critical = sampleOperation({ risk: 'critical' });
const presence = (phone: boolean): Presence => new Presence({ to: {} } as Api, phone);

describe('presence', () => {
  it('is lacking on a phone where nothing can prove it, for high and critical risks alone', async () => {
    asked.mockResolvedValue({ means: [] });
    const it = presence(true);
    expect(it.lacks(critical)).toBe(false);
    await it.look(critical);
    expect((['low', 'medium', 'high', 'critical'] as const).map((risk) => it.lacks(sampleOperation({ risk })))).toEqual([false, false, true, true]);
    asked.mockResolvedValue({ means: ['pin'] });
    await it.look(critical);
    expect(it.lacks(critical)).toBe(false);
  });

  it('is left to the server at a computer, and where the server does not say', async () => {
    asked.mockClear().mockResolvedValue({ means: [] });
    const here = presence(false);
    await here.look(critical);
    expect([here.lacks(critical), asked.mock.calls.length]).toEqual([false, 0]);
    asked.mockRejectedValue(new Error('offline'));
    const there = presence(true);
    await there.look(critical);
    expect(there.lacks(critical)).toBe(false);
  });
});
