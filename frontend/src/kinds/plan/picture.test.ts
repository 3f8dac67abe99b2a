import { describe, expect, it } from 'vitest';
import { touched } from './picture';
import type { Effect } from '../../lib/gatewire';
import type { TaskSummary } from '../../lib/planwire';

const effect = (verb: Effect['verb'], target: string, risk: Effect['risk'] = 'low'): Effect => ({ verb, target, risk, certainty: 'certain', reversibility: 'reversible', blast_radius: 'file', rule_id: 'r' });
const task = (...effects: Effect[]): TaskSummary => ({ index: 1, id: 't', description: '', tool: 'sh', risk_level: 'low', effects });

describe('what a plan would change as a whole', () => {
  it('is each thing once, by sorts, the most severe first, with the tasks that change it', () => {
    const all = touched([
      { place: 1, known: task(effect('filesystem_read', '/a'), effect('filesystem_write', '/b')) },
      { place: 2, known: task(effect('filesystem_delete', '/b', 'high'), effect('network_write', 'example.org', 'medium'), effect('cost', 'x')) },
      { place: 3, known: undefined },
      { place: 4, known: task(effect('filesystem_write', '/c', 'medium'), effect('database', 'billing', 'critical'), effect('filesystem_delete', '/b', 'high')) },
    ]);
    expect(all.map(({ sort, effect: { verb, target }, risk, places }) => [sort, verb, target, risk, places])).toEqual([
      ['files', 'filesystem_delete', '/b', 'high', [1, 2, 4]], ['files', 'filesystem_write', '/c', 'medium', [4]],
      ['network', 'network_write', 'example.org', 'medium', [2]], ['data', 'database', 'billing', 'critical', [4]],
    ]);
    expect(touched([{ place: 1, known: task(effect('filesystem_read', '/a')) }])).toEqual([]);
  });
});
