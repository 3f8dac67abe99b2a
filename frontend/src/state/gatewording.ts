import { sameDay, timeOfDay } from '../lib/time';
import type { GateDecision, GateOutcome, GateRule, Policy, Ruling, TrustWhy } from '../lib/gatewire';
import { rootName } from '../lib/trust';
import { m } from '../paraglide/messages';
import { language } from './locale.svelte';
import { countWord, verbWord } from './effectwording';

/** The words of the gatekeeper's page. Each is a message of its own, in the language of the page. */

export function policyWord(policy: Policy): string {
  return { strict: m.gate_strict, balanced: m.gate_balanced, permissive: m.gate_permissive }[policy]();
}

/** What a policy means, in a sentence. */
export function policySentence(policy: Policy): string {
  return { strict: m.gate_strict_text, balanced: m.gate_balanced_text, permissive: m.gate_permissive_text }[policy]();
}

/** What was decided, as a word of its own. */
export function rulingWord(ruling: Ruling): string {
  return { allow: m.gate_allowed, ask: m.gate_asked, deny: m.gate_rejected }[ruling]();
}

/** What was decided about a call, and for a question how it ended. */
export function decidedWord(decision: Pick<GateDecision, 'decision' | 'outcome'>): string {
  if (decision.decision !== 'ask' || !decision.outcome) return rulingWord(decision.decision);
  return { allowed: m.gate_asked_allowed, refused: m.gate_asked_refused, expired: m.gate_asked_expired, withdrawn: m.gate_asked_withdrawn, waiting: m.gate_asked_waiting }[decision.outcome]();
}

/** How a call of the past ended. */
export function outcomeOf(outcome: GateOutcome): string {
  return { allowed: m.gate_end_allowed, refused: m.gate_end_refused, expired: m.gate_end_expired, withdrawn: m.gate_end_withdrawn, waiting: m.gate_end_waiting }[outcome]();
}

/** What a rule does, as a verb. */
export function ruleVerb(ruling: Ruling): string {
  return { allow: m.gate_rule_allow, ask: m.gate_rule_ask, deny: m.gate_rule_deny }[ruling]();
}

/** What an answer counted as; nothing was answered where `why` is absent. */
export function whyWord(why: TrustWhy | undefined): string {
  if (!why) return m.gate_why_none();
  return { allowed: m.gate_why_allowed, refused: m.gate_why_refused, too_fast: m.gate_why_too_fast, bulk: m.gate_why_bulk, floor: m.gate_why_floor }[why]();
}

/** The rule of one's own that a line of the log names as rule.ID. */
export function ownRule(id: string, rules: readonly GateRule[]): GateRule | undefined {
  return rules.find((rule) => id === rule.rule_id || id === `rule.${rule.rule_id}`);
}

/** Where a rule comes from. */
export function sourceWord(rule: Pick<GateRule, 'source'>): string {
  return { operator: m.gate_source_operator, file: m.gate_source_file, project: m.gate_source_project }[rule.source]();
}

const engineRules: Readonly<Record<string, () => string>> = {
  policy: m.gate_by_policy, changed: m.rule_changed, model: m.rule_model, 'operator.changed': m.rule_operator_changed, 'project.file': m.gate_by_project,
  'floor.download_run': m.rule_download_run, 'floor.fork_bomb': m.rule_fork_bomb, 'floor.gatekeeper': m.rule_gatekeeper, 'floor.own_folder': m.rule_own_folder,
  'floor.own_unknown': m.rule_own_unknown, 'floor.own_variable': m.rule_own_variable, 'floor.secret_sent': m.rule_secret_sent,
};

/**
 * What a decision rests on, in words: a rule of one's own, one of the engine's or, of the many that find one kind of effect, that
 * effect. Null for what is known by its id only. Without `rules` it is not known whose a rule of one's own is.
 */
export function ruleWord(id: string, { verb, rules }: { verb?: string; rules?: readonly GateRule[] } = {}): string | null {
  const own = rules && ownRule(id, rules);
  if (own) return { operator: m.gate_by_operator, file: m.gate_by_file, project: m.gate_by_project }[own.source]();
  if (id.startsWith('rule.')) return rules ? m.gate_by_gone() : m.rule_of_yours();
  if (id.startsWith('trust.')) return m.rule_trust({ verb: verbWord(verb ?? id.slice('trust.'.length)) });
  if (id.startsWith('model.')) return m.rule_model();
  return (Object.hasOwn(engineRules, id) && engineRules[id]?.()) || (verb ? verbWord(verb) : null);
}

/** Whether the words of a rule stand for it alone; beside others its id stands too. */
export const saysAll = (id: string, rules?: readonly GateRule[]): boolean => id === 'policy' || (!!rules && (id.startsWith('rule.') || !!ownRule(id, rules)));

/** What a rule found in a call, if anything. */
export const verbOf = (row: Pick<GateDecision, 'effects'>, rule: string): string | undefined => row.effects?.find((effect) => effect.rule_id === rule)?.verb;

/** Where a rule holds. */
export function scopeWords(rule: GateRule): string[] {
  return [
    rule.project ? rootName(rule.project) : m.gate_every_project(),
    ...(rule.agent_id ? [rule.agent_id] : []),
    ...(rule.session_id ? [m.gate_one_session()] : []),
  ];
}

const day = (at: string | number): string => new Intl.DateTimeFormat(language.locale, { day: 'numeric', month: 'short' }).format(new Date(at));

/** The day, in few letters. */
export const dayWord = day;

/** A moment of the past: its time, and its day where that is not today. */
export function moment(at: string, now: number, exact = false): string {
  return sameDay(at, now) ? timeOfDay(at, exact) : m.gate_day_time({ day: day(at), time: timeOfDay(at) });
}

/** Until when a rule holds, and whether that is soon. */
export function untilWord(until: string | undefined, now: number): { text: string; soon: boolean } {
  if (!until) return { text: m.gate_always(), soon: false };
  const end = Date.parse(until);
  if (end <= now) return { text: m.gate_over(), soon: false };
  // Midnight ends the day before it.
  const last = end - 1;
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  if (sameDay(last, now)) return { text: new Date(end).getHours() || new Date(end).getMinutes() ? timeOfDay(until) : m.gate_today(), soon: true };
  if (sameDay(last, tomorrow.getTime())) return { text: m.gate_tomorrow(), soon: true };
  return { text: day(last), soon: false };
}

/** Trust, as it is written everywhere. */
export const trustFigure = (value: number): string => value.toFixed(2);

/** A change of trust, with its sign. */
export function changeFigure(by: number): string {
  const text = Math.abs(by).toFixed(2);
  if (text === '0.00') return '±0.00';
  return (by < 0 ? '−' : '+') + text;
}

/** How long judging took. */
export function micros(n: number): string {
  return n < 10_000 ? m.gate_micros({ n: countWord(n) }) : m.gate_millis({ n: countWord(Math.round(n / 1000)) });
}
