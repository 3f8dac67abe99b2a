import { ended, endedAt, handedTo, rings, snoozed, underWay } from './life';
import { byTime, sameDay } from './time';
import type { Filters } from './filters';
import { none } from './statistics';
import type { Operation } from './wire';

/** The groups, in their order. Those of a team are `handed` over to whoever looks, `mine`, which they have claimed, and what is for `others`. */
export const groupNames = ['ringing', 'handed', 'running', 'mine', 'waiting', 'others', 'snoozed', 'today'] as const;
export type GroupName = (typeof groupNames)[number];
export const ofTeam: readonly GroupName[] = ['handed', 'mine', 'others'];

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

/** The group an operation stands in; null where it is in none any more. `member` is who looks, where this is a team's queue; else ''. */
export function groupOf(op: Operation, now: number, member: string): GroupName | null {
  if (underWay(op)) return 'running';
  if (op.frozen && !endedAt(op)) return null;
  if (ended(op)) return sameDay(endedAt(op) ?? op.updated_at, now) ? 'today' : null;
  if (snoozed(op, now)) return 'snoozed';
  if (handedTo(op, member)) return 'handed';
  if (rings(op, now)) return 'ringing';
  if (member && op.claimed_by === member) return 'mine';
  return member && (op.claimed_by || op.others_asked) ? 'others' : 'waiting';
}

/** Whether a filter takes an operation of a group, leaving one key of it aside. */
export function passes(op: Operation, group: GroupName, filter: Filters, aside?: string): boolean {
  return (aside === 'state' || !filter.state || filter.state === group) && traitNames.every((name) => name === aside || !filter[name] || traits[name](op) === filter[name]);
}

/** How each group is sorted. */
const orders: Record<GroupName, (a: Operation, b: Operation) => number> = {
  ringing: byUrgency, handed: byUrgency, running: byEnd, mine: byUrgency, waiting: byUrgency, others: byUrgency, snoozed: bySnooze, today: byEnd,
};

/**
 * Sorts operations into the inbox's groups, leaving out empty ones. A confirmed plan that runs asks for nothing, but can
 * still be stopped or changed, and only now: it stands right under what rings. What ended today comes last.
 */
export function inbox(operations: Iterable<Operation>, now: number, filter: Filters = {}, member = ''): Group[] {
  const groups = new Map<GroupName, Operation[]>();
  for (const op of operations) {
    const name = groupOf(op, now, member);
    if (!name || !passes(op, name, filter)) continue;
    const of = groups.get(name);
    if (of) of.push(op);
    else groups.set(name, [op]);
  }
  return groupNames.flatMap((name) => {
    const of = groups.get(name);
    return of ? [{ name, operations: of.sort(orders[name]) }] : [];
  });
}
