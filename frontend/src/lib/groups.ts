import { ended, endedAt, rings, snoozed, underWay } from './life';
import { byTime, sameDay } from './time';
import type { Filters } from './filters';
import { none } from './statistics';
import type { Operation } from './wire';

export type GroupName = 'ringing' | 'running' | 'waiting' | 'snoozed' | 'today';

export interface Group {
  name: GroupName;
  operations: Operation[];
}

/** What a filter goes by besides the group: of each operation its kind, agent, project and risk. */
export const traits = {
  kind: (op: Operation): string => op.action_type,
  agent: (op: Operation): string => op.agent_id,
  project: (op: Operation): string => op.project || none,
  risk: (op: Operation): string => op.risk || none,
};
export type Trait = keyof typeof traits;
const traitNames = Object.keys(traits) as Trait[];

/** Texts by their code units: quick, and the same on every machine. */
const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** Most urgent first, then oldest first; ids settle ties, so that rows never swap places by themselves. */
export function byUrgency(a: Operation, b: Operation): number {
  return b.priority - a.priority || byTime(a.created_at, b.created_at) || order(a.operation_id, b.operation_id);
}

const byEnd = (a: Operation, b: Operation): number => byTime(endedAt(b), endedAt(a));

const bySnooze = (a: Operation, b: Operation): number => byTime(a.snoozed_until, b.snoozed_until);

/** The group an operation stands in; null where it is in none any more. */
export function groupOf(op: Operation, now: number): GroupName | null {
  if (underWay(op)) return 'running';
  if (ended(op)) return sameDay(endedAt(op) ?? op.updated_at, now) ? 'today' : null;
  if (snoozed(op, now)) return 'snoozed';
  return rings(op, now) ? 'ringing' : 'waiting';
}

/** Whether a filter takes an operation of a group, leaving one key of it aside. */
export function passes(op: Operation, group: GroupName, filter: Filters, aside?: string): boolean {
  return (aside === 'state' || !filter.state || filter.state === group) && traitNames.every((name) => name === aside || !filter[name] || traits[name](op) === filter[name]);
}

/**
 * Sorts operations into the inbox's groups, leaving out empty ones. A confirmed plan that runs asks for nothing, but can
 * still be stopped or changed, and only now: it stands right under what rings. What ended today comes last.
 */
export function inbox(operations: Iterable<Operation>, now: number, filter: Filters = {}): Group[] {
  const groups: Record<GroupName, Operation[]> = { ringing: [], running: [], waiting: [], snoozed: [], today: [] };
  for (const op of operations) {
    const name = groupOf(op, now);
    if (!name) continue;
    if (passes(op, name, filter)) groups[name].push(op);
  }
  groups.ringing.sort(byUrgency);
  groups.running.sort(byEnd);
  groups.waiting.sort(byUrgency);
  groups.snoozed.sort(bySnooze);
  groups.today.sort(byEnd);
  return (Object.keys(groups) as GroupName[]).filter((name) => groups[name].length).map((name) => ({ name, operations: groups[name] }));
}
