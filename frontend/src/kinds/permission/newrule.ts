import type { GateRule, RulePreview } from '../../lib/gatewire';

/** How long a new rule holds. */
export type Span = 'hour' | 'day' | 'week' | 'month' | 'ever';
export const spans: readonly Span[] = ['hour', 'day', 'week', 'month', 'ever'];

/** Where it applies. */
export type Reach = 'session' | 'project' | 'everywhere';

const hour = 3_600_000;
const lengths: Record<Exclude<Span, 'ever'>, number> = { hour, day: 24 * hour, week: 7 * 24 * hour, month: 30 * 24 * hour };

/** When a span that begins now is over; undefined for one that has no end. */
export function endOf(span: Span, now: number): string | undefined {
  return span === 'ever' ? undefined : new Date(now + lengths[span]).toISOString();
}

/** The span that is nearest to what a rule says; a week where it says nothing, because for ever is to be chosen. */
export function spanOf(rule: GateRule, now: number): Span {
  if (!rule.until) return 'week';
  const left = Date.parse(rule.until) - now;
  const [nearest] = (['hour', 'day', 'week', 'month'] as const).toSorted((a, b) => Math.abs(lengths[a] - left) - Math.abs(lengths[b] - left));
  return nearest ?? 'week';
}

export function reachOf(rule: GateRule): Reach {
  return rule.session_id ? 'session' : rule.project ? 'project' : 'everywhere';
}

/** What a rule would have matched before: the question that is being answered, and others that wait, are not past. */
export function past(preview: RulePreview): RulePreview {
  const waiting = preview.calls.filter((call) => call.outcome === 'waiting').reduce((n, call) => n + call.times, 0);
  return { ...preview, total: Math.max(0, preview.total - waiting), calls: preview.calls.filter((call) => call.outcome !== 'waiting') };
}

/** A rule as it is sent: what is empty is left out, for an empty pattern would match nothing or everything. */
export function ruleFor(rule: GateRule, reach: Reach, of: { session?: string; project?: string }, until: string | undefined): GateRule {
  const rest = { ...rule };
  delete rest.session_id;
  delete rest.project;
  delete rest.until;
  return {
    ...rest,
    ...(reach !== 'everywhere' && of.project && { project: of.project }),
    ...(reach === 'session' && of.session && { session_id: of.session }),
    ...(until && { until }),
  };
}
