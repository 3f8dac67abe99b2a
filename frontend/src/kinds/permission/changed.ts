import { rows } from '../../lib/verdict';
import type { Changed, Effect } from '../../lib/wire';

/** An effect before and now; one of them may be missing. */
export interface Compared {
  before?: Effect;
  now?: Effect;
}

const same = (a: Effect, b: Effect): boolean => a.verb === b.verb && (a.target || a.resource) === (b.target || b.resource) && a.risk === b.risk;

/** The effects of two verdicts side by side: what is new comes first, what is no more last. */
export function compared(before: readonly Effect[], now: readonly Effect[]): Compared[] {
  const was = rows(before);
  const is = rows(now);
  const both = is.map((effect): Compared => ({ before: was.find((one) => same(one, effect)), now: effect }));
  return [...both.filter((row) => !row.before), ...both.filter((row) => row.before), ...was.filter((one) => !is.some((effect) => same(one, effect))).map((one): Compared => ({ before: one }))];
}

/** The last part of a path. */
export const nameOfFile = (path: string): string => path.split(/[/\\]/).filter(Boolean).at(-1) ?? path;

/** What changed, by its name. */
export const changedName = (changed: Changed): string => nameOfFile(changed.files?.[0]?.path ?? '');
