import { describe, expect, it } from 'vitest';
import { sampleEffect, samplePermission, sampleQuestion, sampleVerdict } from '../../lib/verdict.testing';
import type { Changed } from '../../lib/wire';
import { changedName, compared } from './changed';
import { mild } from './question';
import { permission } from './index';

const changed: Changed = {
  since: 'question',
  at: '2026-11-23T14:12:20Z',
  noticed_at: '2026-11-23T14:13:03Z',
  files: [{ path: '/p/deploy.sh', before: { path: '/p/deploy.sh', state: 'read', sha256: 'aa', size: 1 }, now: { path: '/p/deploy.sh', state: 'absent' } }],
};

describe('a call that is asked about again', () => {
  it('shows what is new first, then what stays, then what is no more', () => {
    const on = (target: string) => sampleEffect({ target, resource: target });
    expect(compared([on('a'), on('b')], [on('b'), on('c')]).map(({ before, now }) => [before?.target, now?.target])).toEqual([[undefined, 'c'], ['b', 'b'], ['a', undefined]]);
  });

  it('counts a higher risk as new', () => {
    expect(compared([sampleEffect({ risk: 'low' })], [sampleEffect({ risk: 'high' })])).toHaveLength(2);
  });

  it('is not allowed on a card: the difference is read first', () => {
    const verdict = sampleVerdict({ risk: 'low' });
    expect(mild(samplePermission(sampleQuestion({ verdict })))).toBe(true);
    expect(mild(samplePermission(sampleQuestion({ verdict, changed })))).toBe(false);
  });

  it('is named after what changed', () => {
    expect(changedName(changed)).toBe('deploy.sh');
    expect(permission.title?.(samplePermission(sampleQuestion({ changed })))).toBe('deploy.sh changed since you were asked');
  });
});
