import { decides, type PartRow } from '../lib/parttree';
import type { CallPart, GateRule, PartCheck, Policy } from '../lib/gatewire';
import { ruleText } from '../lib/trust';
import { hasRisk } from '../lib/verdict';
import type { Certainty, Effect } from '../lib/wire';
import { m } from '../paraglide/messages';
import { blastWord, effectsSentence, filesWord, keptWord, reversibilityWord, trustWord } from './effectwording';
import { ownRule, policySentence, policyWord, ruleWord } from './gatewording';

/** The words for the parts of a judged call. Each is a message of its own, in the language of the page. */

const reads = new Set<string>(['filesystem_read', 'git_read', 'network_read']);

/** What a part does by itself, in a line; '' where it only runs others. */
export function partEffects(part: CallPart): string {
  const effects = part.effects ?? [];
  const risky = effects.filter(hasRisk);
  if (!risky.length && effects.every((effect) => reads.has(effect.verb))) return effects.length ? m.try_reads() : '';
  return effectsSentence(risky.length ? risky : effects);
}

/** What kind of part it is, where its text does not say so. */
export function partKind({ part, level }: PartRow): string {
  if (part.language) return part.language === 'sh' && level === 1 ? m.try_whole() : part.language;
  return part.runs?.length && !decides(part) ? m.try_wrapper() : '';
}

/** What decided about a part, in few words. */
export function checkWord(check: PartCheck, rules: readonly GateRule[]): string {
  switch (check.by) {
    case 'hard_limit':
      return m.try_by_limit();
    case 'trust':
      return m.try_by_trust({ value: trustWord(check.trust ?? 0) });
    case 'policy':
      return m.gate_by_policy();
    case 'rule':
      return ruleWord(check.rule_id, { rules }) ?? check.rule_id;
  }
}

/** What a check says of a part. */
export function checkSentence(check: PartCheck, part: CallPart): string {
  const limited = part.checks?.some((one) => one.by === 'hard_limit') ?? false;
  const least = { under: trustWord(check.under ?? 0), over: trustWord(check.over ?? 0) };
  switch (check.by) {
    case 'hard_limit':
      return m.gate_floor_short();
    case 'rule':
      if (!check.decided) return limited ? m.try_rule_behind() : m.try_rule_other();
      return check.whole_call ? m.try_rule_whole() : '';
    case 'trust':
      if (check.decision === 'ask') return m.try_trust_low(least);
      if (check.decision === 'allow') return m.try_trust_high(least);
      return (check.trust ?? 0) > (check.over ?? 1) ? m.try_trust_high_risk(least) : m.try_trust_between(least);
    case 'policy':
      return check.decided ? policySentence(check.policy ?? 'balanced') : m.try_not_needed();
  }
}

const policyList = (policies: readonly Policy[]): string => policies.map(policyWord).join(m.list_comma());

/** What would have to be different for a part to pass. */
export function changes(part: CallPart, rules: readonly GateRule[]): string[] {
  if (part.decision === 'allow') return [];
  const checks = part.checks ?? [];
  const decided = checks.filter((check) => check.decided);
  if (decided.some((check) => check.by === 'hard_limit')) return [m.gate_floor_short()];
  return decided.flatMap((check): string[] => {
    switch (check.by) {
      case 'rule': {
        const own = ownRule(check.rule_id, rules);
        return [m.try_change_rule({ rule: (own && ruleText(own)) || check.rule_id })];
      }
      case 'trust':
        return [m.try_change_trust({ under: trustWord(check.under ?? 0), trust: trustWord(check.trust ?? 0) })];
      case 'policy': {
        const passes = check.allowed_by ?? [];
        const trust = part.risk === 'low' ? checks.find((one) => one.by === 'trust') : undefined;
        return [
          passes.length ? m.try_change_policy({ list: policyList(passes) }) : m.try_change_no_policy(),
          ...(trust ? [m.try_change_trust_high({ over: trustWord(trust.over ?? 1), trust: trustWord(trust.trust ?? 0) })] : []),
        ];
      }
      default:
        return [];
    }
  });
}

/** What is known of an effect beside its words. */
export function effectFacts(effect: Effect): string[] {
  if (!hasRisk(effect)) return [];
  return [
    ...(effect.files ? [filesWord(effect.files)] : []),
    ...(effect.kept ? [keptWord(effect.kept)] : []),
    reversibilityWord(effect.reversibility),
    blastWord(effect.blast_radius),
  ];
}

/** How sure it is what a part does: as sure as its least certain effect. */
export function sureSentence(part: CallPart): string {
  const counted = (part.effects ?? []).filter(hasRisk);
  const effects = counted.length ? counted : (part.effects ?? []);
  const least = (['possible', 'likely', 'certain'] as const satisfies readonly Certainty[]).find((how) => effects.some((effect) => effect.certainty === how));
  return least ? { certain: m.try_sure_certain, likely: m.try_sure_likely, possible: m.try_sure_possible }[least]() : '';
}
