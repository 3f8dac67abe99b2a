import type { Chain } from './wire';

/** How to tell a hash from others at a glance. */
export function shortHash(hash: string): string {
  const digits = hash.replace(/^sha256:/, '');
  return `${digits.slice(0, 4)}…${digits.slice(-4)}`;
}

/** A key's fingerprint, as a person compares it: what its id has, in groups of four. */
export function fingerprint(id: string): string {
  return (id.split(':').at(-1) ?? '').replace(/(.{4})(?=.)/g, '$1 ');
}

export interface Neighbor {
  number: number;
  operation: string;
  description: string;
  hash: string;
  /** It does not follow the one before it here: what it names instead. */
  expects: string;
  /** A receipt is missing, or was changed, between it and the one before. */
  cut: boolean;
}

/** The receipts of a chain in order, with the places where it is cut. */
export function neighbors(chain: Chain): Neighbor[] {
  return chain.neighbors.map((n, i, all) => {
    const before = all[i - 1];
    const cut = !!before && (n.number !== before.number + 1 || n.follows !== before.hash);
    return { number: n.number, operation: n.operation_id ?? '', description: n.description ?? '', hash: n.hash, cut, expects: cut ? (n.follows ?? '') : '' };
  });
}

/** Whether the chain is broken, and whether the receipt of a number lies behind the break. */
export function brokenBefore(chain: Chain, number: number): boolean {
  return chain.found.length > 0 && number > chain.sound;
}
