import { describe, expect, test } from 'vitest';
import { brokenBefore, fingerprint, neighbors, shortHash } from './receipt';
import type { Chain } from './wire';

const a = { number: 4, operation_id: 'op_a', description: 'Deploy', hash: 'sha256:aa11', follows: 'sha256:0000' };
const b = { number: 5, operation_id: 'op_b', description: 'Drop', hash: 'sha256:bb22', follows: 'sha256:aa11' };
const c = { number: 7, hash: 'sha256:dd44', follows: 'sha256:cc33' };
const chain = (part: Partial<Chain>): Chain => ({ neighbors: [a, b], receipts: 7, found: [], sound: 0, ...part });

describe('a chain of receipts', () => {
  test('has no cut where each names the one before', () => {
    expect(neighbors(chain({})).map((n) => n.cut)).toEqual([false, false]);
  });

  test('is cut where a number is missing or another receipt is named', () => {
    expect(neighbors(chain({ neighbors: [a, b, c] })).at(-1)).toEqual({ number: 7, operation: '', description: '', hash: 'sha256:dd44', cut: true, expects: 'sha256:cc33' });
    expect(neighbors(chain({ neighbors: [a, { ...b, follows: 'sha256:ffff' }] })).at(-1)?.cut).toBe(true);
    expect(neighbors(chain({ neighbors: [a, { ...b, follows: undefined }] })).at(-1)).toMatchObject({ cut: true, expects: '' });
  });

  test('that is broken can be relied on up to the break', () => {
    const broken = chain({ found: [{ text: 'entry 9 was changed' }], sound: 4 });
    expect([4, 5].map((n) => brokenBefore(broken, n))).toEqual([false, true]);
    expect(brokenBefore(chain({}), 5)).toBe(false);
  });
});

test('hashes and fingerprints are written for people', () => {
  expect(shortHash('sha256:b07d000000000000000041ea')).toBe('b07d…41ea');
  expect(fingerprint('deskbell:key:7c1e04b955d3a2f0')).toBe('7c1e 04b9 55d3 a2f0');
});
