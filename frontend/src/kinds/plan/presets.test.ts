import { describe, expect, it, vi } from 'vitest';
import type { Api } from '../../backend/api';
import { Problem } from '../../backend/http';
import type { Preset } from '../../lib/planwire';
import { PresetForm, Presets } from './presets.svelte';

const move: Preset = { preset_id: 'pre_1', name: 'Database move', by: 'mei', at: '2026-01-02T12:00:00Z', tasks: [{ id: 't1', description: 'Dump' }, { id: 't2', description: 'Restore', tool_name: 'sh', args: { command: 'make restore' } }] };

describe('a preset being written', () => {
  const said = (form: PresetForm): string[] => form.rows.map(({ task }) => task.description);

  it('starts with one empty task, and is not saved before it has a name and words', () => {
    const form = new PresetForm();
    expect([form.preset(), form.lack]).toEqual([null, 'name']);
    form.name = ' Restore test ';
    expect([form.preset(), form.lack]).toEqual([null, 'task']);
    form.remove(form.rows[0]?.key ?? 0);
    expect([form.preset(), form.lack]).toEqual([null, 'tasks']);
    form.add();
    Object.assign(form.rows[0]?.task ?? {}, { description: ' Restore on a copy ', tool_name: ' ', expected_outcome: '' });
    expect([form.preset(), form.lack]).toEqual([{ name: 'Restore test', tasks: [{ description: 'Restore on a copy' }] }, '']);
  });

  it('takes the place of the one it was made from, and keeps what it does not show', () => {
    const form = new PresetForm(move);
    form.name = 'Move of a database';
    expect(form.preset()).toEqual({ preset_id: 'pre_1', name: 'Move of a database', tasks: move.tasks });
    expect(move.name).toBe('Database move');
  });

  it('moves tasks by places, and not out of the list', () => {
    const form = new PresetForm(move);
    const key = form.rows[1]?.key ?? 0;
    form.move(key, 1);
    expect(said(form)).toEqual(['Dump', 'Restore']);
    form.move(key, -1);
    expect(said(form)).toEqual(['Restore', 'Dump']);
  });
});

describe('presets', () => {
  it('are read anew after a change, and a refusal leaves them', async () => {
    let all: Preset[] = [move];
    const dropPreset = vi.fn<(id: string) => Promise<void>>().mockImplementation(async () => { all = []; });
    const presets = new Presets({ plans: { presets: async () => all, dropPreset, putPreset: async () => { throw new Problem(422, 'the name is taken'); } } } as unknown as Api);
    await presets.load();
    expect(await presets.put(move)).toBe('the name is taken');
    expect(presets.list).toEqual([move]);
    expect(await presets.drop('pre_1')).toBe('');
    expect(presets.list).toEqual([]);
  });

  it('are not spoken of where no plans are taken', async () => {
    const presets = new Presets({ plans: { presets: async () => { throw new Problem(503, 'without plans'); } } } as unknown as Api);
    await presets.load();
    expect([presets.missing, presets.trouble]).toEqual([true, '']);
  });
});
