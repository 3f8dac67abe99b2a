import { riskLevel } from '../../lib/verdict';
import type { Effect, GateRisk } from '../../lib/gatewire';
import type { TaskSummary } from '../../lib/planwire';

/** The sorts of things that a plan changes, in the order they are drawn. */
export const sorts = ['files', 'repository', 'network', 'data', 'secrets', 'machine', 'unknown'] as const;
export type Sort = (typeof sorts)[number];

/** What stands in no list only looks at something, or costs. */
const of: Readonly<Record<string, Sort>> = {
  filesystem_write: 'files', filesystem_delete: 'files',
  git_write: 'repository', git_discard: 'repository', git_remote_write: 'repository', git_history_rewrite: 'repository',
  network_write: 'network', database: 'data', credential_access: 'secrets',
  package_install: 'machine', package_run: 'machine', lang_exec: 'machine', process_signal: 'machine', container: 'machine', service: 'machine',
  persistence: 'machine', privilege_escalation: 'machine', security_weakening: 'machine', obfuscated: 'unknown', unknown: 'unknown',
};

/** One thing that tasks of a plan change. */
export interface Touched {
  key: string;
  sort: Sort;
  /** The effect to say it by: the most severe. */
  effect: Effect;
  risk: GateRisk;
  /** The places of the tasks, from 1. */
  places: number[];
}

/** What a plan would change as a whole: each thing once, by sorts, the most severe first. */
export function touched(tasks: readonly { place: number; known: TaskSummary | undefined }[]): Touched[] {
  const all = new Map<string, Touched>();
  for (const { place, known } of tasks) {
    for (const effect of known?.effects ?? []) {
      const sort = of[effect.verb];
      if (!sort) continue;
      const key = `${sort} ${effect.target || effect.resource || effect.thing || effect.verb}`;
      const was = all.get(key);
      if (!was) all.set(key, { key, sort, effect, risk: effect.risk, places: [place] });
      else {
        if (riskLevel(effect.risk) > riskLevel(was.risk)) Object.assign(was, { effect, risk: effect.risk });
        if (!was.places.includes(place)) was.places.push(place);
      }
    }
  }
  return [...all.values()].sort((a, b) => sorts.indexOf(a.sort) - sorts.indexOf(b.sort) || riskLevel(b.risk) - riskLevel(a.risk));
}
