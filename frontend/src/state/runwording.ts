import { endingOf, type StepState } from '../lib/runs';
import type { AgentRun, AgentState, RunEnding, RunPlan, RunUpdate } from '../lib/wire';
import { m } from '../paraglide/messages';
import { language } from './locale.svelte';
import { sentence } from './sentences.svelte';
import { spokenSpan } from './wording';

/** Where a run is, in a word: how it ended, or what it is at. */
export function runState(run: AgentRun): string {
  const words: Record<RunEnding, () => string> = { done: m.runs_state_completed, failed: m.runs_state_failed, needs_input: m.runs_ended_needs_input, denied: m.runs_ended_denied, interrupted: m.runs_state_died };
  const ending = endingOf(run);
  return ending ? words[ending]() : stateOf(run.state);
}

/** What an update tells, with Deskbell's own sentences in the language of the page. */
export const contentOf = ({ content, said = [] }: RunUpdate): string => said.reduce((text, one) => text.replace(one.text, () => sentence(one)), content);

/** Why a run that can be resumed stands still. */
export function runBroken(run: AgentRun): string {
  if (run.ending === 'needs_input') return m.runs_broken_needs_input();
  return endingOf(run) === 'failed' ? m.runs_failed_text() : m.runs_broken_interrupted();
}

export function stateOf(state: AgentState): string {
  const words: Record<AgentState, () => string> = {
    idle: m.runs_state_idle, reasoning: m.runs_state_reasoning, planning: m.runs_state_planning, awaiting_confirmation: m.runs_state_awaiting_confirmation, executing: m.runs_state_executing,
    evaluating: m.runs_state_evaluating, replanning: m.runs_state_replanning, completed: m.runs_state_completed, failed: m.runs_state_failed,
  };
  return words[state]?.() ?? state;
}

export function stepWord(state: StepState): string {
  return { waiting: m.runs_step_waiting, running: m.runs_step_running, done: m.runs_step_done, failed: m.runs_step_failed, refused: m.runs_step_refused, skipped: m.runs_step_skipped, asks: m.runs_step_asks }[state]();
}

/** How a plan of a run was decided. */
export function runPlanSentence(plan: RunPlan): string {
  if (plan.auto === 'off') return m.runs_plan_auto_off();
  if (plan.auto === 'safe') return m.runs_plan_auto_safe();
  const words: Record<string, () => string> = { pending: m.runs_plan_pending, confirmed: m.runs_plan_confirmed, modified: m.runs_plan_modified, cancelled: m.runs_plan_cancelled, timeout: m.runs_plan_timeout };
  return words[plan.status]?.() ?? plan.status;
}

export const number = (n: number): string => new Intl.NumberFormat(language.locale).format(n);

/** Money as far as it counts: two places, and more where that would be nothing. Without a currency that is known, a number. */
export function money(n: number, currency = ''): string {
  const places: Intl.NumberFormatOptions = n && n < 0.01 ? { maximumSignificantDigits: 2 } : { minimumFractionDigits: 2, maximumFractionDigits: 2 };
  return new Intl.NumberFormat(language.locale, { ...places, ...(/^[A-Z]{3}$/.test(currency) && { style: 'currency', currency }) }).format(n);
}

/** What a run has used, in a line. */
export function spentWords({ spent, limits }: AgentRun): string[] {
  return [...(spent.steps ? [m.runs_calls({ n: spent.steps })] : []), m.runs_tokens({ n: number(spent.tokens_in + spent.tokens_out) }), ...(spent.money ? [m.runs_money({ n: money(spent.money, limits?.currency) })] : [])];
}

/** What a run has used, each beside its limit: label and words. */
export function spentLines({ spent, limits = {} }: AgentRun): [label: string, words: string][] {
  const line = (label: string, used: number, limit: number | undefined, words: (n: number) => string): [string, string] => [label, limit ? m.runs_spent_of({ spent: words(used), limit: words(limit) }) : words(used)];
  const lines = [line(m.runs_spent_calls(), spent.steps, limits.steps, number), line(m.runs_spent_in(), spent.tokens_in, 0, number), line(m.runs_spent_out(), spent.tokens_out, 0, number)];
  if (limits.tokens) lines.push(line(m.runs_spent_tokens(), spent.tokens_in + spent.tokens_out, limits.tokens, number));
  lines.push(line(m.runs_spent_time(), spent.time_ns, limits.time_ns, (ns) => spokenSpan(ns / 1e6)));
  if (spent.money || limits.money) lines.push(line(m.runs_spent_money(), spent.money ?? 0, limits.money, (n) => money(n, limits.currency)));
  return lines;
}

/** What a tool was called with, without its name, which stands beside it. */
export const callWith = ({ tool = '', call = '' }: RunUpdate): string => (call.startsWith(`${tool} `) ? call.slice(tool.length + 1) : call);

/** What a line of the log is, before its words; '' where the words say it. */
export function updateWord(update: RunUpdate): string {
  switch (update.type) {
    case 'task_plan':
      return update.plan ? m.runs_plan_made({ n: update.plan.tasks.length }) : '';
    case 'confirmation_request':
      return m.runs_plan_asked();
    case 'conversational_response':
      return m.runs_says();
    case 'final_result':
      return m.runs_result();
    case 'error':
    case 'confirmation_error':
      return m.runs_error();
    default:
      return '';
  }
}
