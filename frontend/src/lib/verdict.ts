import type { Because, Effect, Question, ToolCall, Verdict } from './wire';

/** Every kind of effect a call can have, in the gatekeeper's words. */
export const effectVerbs = [
  'filesystem_read', 'filesystem_write', 'filesystem_delete', 'git_read', 'git_write', 'git_discard', 'git_remote_write', 'git_history_rewrite',
  'network_read', 'network_write', 'package_install', 'package_run', 'lang_exec', 'process_signal', 'container', 'service', 'database',
  'credential_access', 'persistence', 'privilege_escalation', 'security_weakening', 'cost', 'obfuscated', 'unknown',
] as const;

export type EffectVerb = (typeof effectVerbs)[number];

/** A verb this page has words for; a newer server's is 'unknown'. */
export function knownVerb(verb: string): EffectVerb {
  return effectVerbs.find((known) => known === verb) ?? 'unknown';
}

const risks = ['none', 'low', 'medium', 'high', 'critical'] as const;

/** 0 for none, 4 for critical. */
export const riskLevel = (risk: string): number => (risks as readonly string[]).indexOf(risk);

/** Lists that hold nothing may come as null. */
export function complete<Q extends Question>(question: Q): Q {
  const { verdict } = question;
  return { ...question, verdict: { ...verdict, effects: verdict.effects ?? [], choices: verdict.choices ?? [], because: verdict.because ?? [], rule_ids: verdict.rule_ids ?? [] } };
}

/** Whether letting a call run is more than one click or key may do. */
export function grave(verdict: Verdict): boolean {
  return riskLevel(verdict.risk) >= riskLevel('high') || !!verdict.floor || verdict.form === 'input';
}

/** What an effect is on, as exactly as it is known. */
const on = (effect: Effect): string => effect.target || effect.resource || '';

/** What was counted here says nothing of a path on another machine. */
const near = ({ blast_radius: far }: Effect): boolean => far === 'file' || far === 'project' || far === 'machine';

/** One line for effects that a person cannot tell apart: several rules found them, the most severe of it counts. */
export function rows(effects: readonly Effect[]): Effect[] {
  const all = new Map<string, Effect>();
  for (const one of effects) {
    const effect = near(one) ? one : { ...one, files: undefined, bytes: undefined, kept: undefined };
    const key = `${effect.verb}\n${on(effect)}`;
    const known = all.get(key);
    if (!known) all.set(key, { ...effect });
    else if (riskLevel(effect.risk) > riskLevel(known.risk)) all.set(key, { ...known, ...effect, floor: known.floor || effect.floor });
    else known.floor ||= effect.floor;
  }
  return [...all.values()].sort((a, b) => Number(b.floor ?? false) - Number(a.floor ?? false) || riskLevel(b.risk) - riskLevel(a.risk));
}

/** Does more than look. */
export const hasRisk = (effect: Effect): boolean => effect.risk !== 'none';

/** What a call would do, in short: its most severe kind of effect, and how much else there is. */
export interface Gist {
  verb: EffectVerb;
  /** What it is done to, as the call names it, each once. */
  things: string[];
  /** How many files they hold; -1 where that is not known of each. */
  files: number;
  bytes: number;
  /** How many of them are in no commit, and no other copy is known. */
  lost: number;
  /** None of them exists yet. */
  fresh: boolean;
  /** Effects of other kinds that do more than look. */
  others: number;
}

export function gist(effects: readonly Effect[], name = (effect: Effect): string => effect.resource || effect.target || ''): Gist {
  const all = rows(effects);
  const first = all[0];
  const counted = all.some(hasRisk) ? all.filter(hasRisk) : all;
  const same = counted.filter((effect) => effect.verb === first?.verb);
  const sum = (of: (effect: Effect) => number): number => same.reduce((total, effect) => total + of(effect), 0);
  const known = same.length > 0 && same.every((effect) => effect.files !== undefined || effect.kept === 'absent');
  return {
    verb: knownVerb(first?.verb ?? 'unknown'),
    things: [...new Set(same.map(name).filter(Boolean))],
    files: known ? sum((effect) => effect.files ?? 0) : -1,
    bytes: sum((effect) => effect.bytes ?? 0),
    lost: sum((effect) => (effect.kept === 'no_copy' ? (effect.files ?? 0) : 0)),
    fresh: same.length > 0 && same.every((effect) => effect.kept === 'absent'),
    // One command found twice over is one thing that is done.
    others: counted.filter((effect) => effect.verb !== first?.verb && !same.some((one) => on(one) === on(effect))).length,
  };
}

/** Why a call is asked about, as it is read: effects that one rule found are one reason. */
export interface Reason {
  because: Because;
  effects: Effect[];
}

export function reasons(verdict: Verdict): Reason[] {
  const all = new Map<string, Reason>();
  for (const because of verdict.because ?? []) {
    const effect = verdict.effects.find((one) => one.rule_id === because.rule_id && (one.resource ?? '') === (because.resource ?? ''));
    const key = effect ? `${because.rule_id}\n${because.risk}\n${because.verb}` : `${because.rule_id}\n${because.text}`;
    const known = all.get(key);
    if (known && effect) known.effects.push(effect);
    else if (!known) all.set(key, { because, effects: effect ? [effect] : [] });
  }
  return [...all.values()];
}

const commandNames = ['command', 'cmd', 'script'];

/** The shell command of a call, under the name it has among the arguments; undefined for other tools' calls. */
export function commandOf(call: Pick<ToolCall, 'args'>): { name: string; text: string } | undefined {
  for (const name of commandNames) {
    const text = call.args?.[name];
    if (typeof text === 'string' && text) return { name, text };
  }
  return undefined;
}
