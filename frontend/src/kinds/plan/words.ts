import { riskLevel } from '../../lib/verdict';
import type { ChangeKind, PlanHistory, PlanOutcome, TaskChange, TaskField, TasksSummary, TaskSummary, UsualChange } from '../../lib/planwire';
import { m } from '../../paraglide/messages';
import { language } from '../../state/locale.svelte';
import { effectSentence } from '../../state/effectwording';
import { sentences } from '../../state/sentences.svelte';
import { riskSentence, roughSpan } from '../../state/wording';

/** The words of plans that wait. Each is a message of its own, in the language of the page. */

/** How many tasks there are, and how many of them change something. */
export function countSentence(total: number, writes: number): string {
  if (total === 1) return writes ? m.plan_one_writes() : m.plan_one_reads();
  const tasks = m.plan_count({ n: total });
  return writes ? m.plan_count_write({ tasks, n: writes }) : m.plan_count_write_none({ tasks });
}

/** How long all of it takes; '' where history knows nothing. */
export function aboutSentence(summary: TasksSummary): string {
  if (!summary.estimated_seconds || !summary.estimated_tasks) return '';
  const time = roughSpan(summary.estimated_seconds);
  if (summary.estimated_tasks < summary.total_tasks) return m.plan_about_part({ time, n: summary.estimated_tasks });
  return summary.runs ? m.plan_about_runs({ time, n: summary.runs }) : m.plan_about({ time });
}

export function countWord(kind: ChangeKind, n: number): string {
  return { added: m.plan_n_added, changed: m.plan_n_changed, moved: m.plan_n_moved, removed: m.plan_n_removed }[kind]({ n });
}

export function fieldWord(field: TaskField): string {
  return {
    description: m.plan_field_description, tool_name: m.plan_field_tool_name, type: m.plan_field_type, priority: m.plan_field_priority,
    expected_outcome: m.plan_field_expected_outcome, args: m.plan_field_args,
  }[field]();
}

/** One change, without what it is about: 'Moves task 4 to place 3'. What is still there goes by its new place. */
export function changeWord({ change, from = 0, to = 0 }: TaskChange): string {
  return { added: m.plan_change_added({ n: to }), removed: m.plan_change_removed({ n: from }), changed: m.plan_change_changed({ n: to }), moved: m.plan_change_moved({ from, n: to }) }[change];
}

/** Why the risk of a task is high, in a sentence; '' where it is not. */
export function whyHigh(known: TaskSummary | undefined): string {
  if (!known || riskLevel(known.risk_level) < riskLevel('high')) return '';
  if (known.said?.length) return m.plan_high_why({ why: sentences({ said: known.said, text: known.said.map(({ text }) => text).join(' ') }) });
  const effect = known.effects?.[0];
  if (effect) return m.plan_high_why({ why: m.plan_high_effect({ what: effectSentence(effect) }) });
  return '';
}

/** What a person should look at before a plan runs. */
export interface Care {
  id: string;
  look: 'red' | 'orange' | '';
  words: string;
}

/** What stands out of tasks, the most severe first: what they would do; and last, which are asked about again. */
export function careOf(tasks: readonly { place: number; known: TaskSummary }[]): Care[] {
  const grave = (known: TaskSummary): boolean => riskLevel(known.risk_level) >= riskLevel('high');
  const all = tasks
    .filter(({ known }) => grave(known) || (known.risk_level === 'medium' && known.effects?.length))
    .sort((a, b) => riskLevel(b.known.risk_level) - riskLevel(a.known.risk_level) || a.place - b.place)
    .map(({ place, known }): Care => {
      const effect = known.effects?.[0];
      const words = effect ? m.plan_care_effects({ n: place, what: effectSentence(effect) }) : m.plan_care_risk({ n: place, risk: riskSentence(known.risk_level).toLocaleLowerCase(language.locale) });
      return { id: known.id, look: grave(known) ? 'red' : 'orange', words };
    });
  const asked = tasks.filter(({ known }) => known.asked).map(({ place }) => place);
  if (!asked.length) return all;
  return [...all, { id: '', look: '', words: m.plan_care_asked({ n: asked.length, places: asked.join(m.list_comma()) }) }];
}

/** How a plan ended, in a word. */
export function statusWord(status: PlanOutcome): string {
  return { pending: m.state_pending, confirmed: m.planrun_outcome_confirmed, modified: m.planrun_outcome_modified, sent_back: m.planrun_outcome_sent_back, cancelled: m.outcome_cancelled, timeout: m.outcome_timeout }[status]();
}

/** What was decided for plans like this one; '' where there was none. */
export function historySentence({ counts }: PlanHistory): string {
  const { confirmed = 0, modified = 0, sent_back: back = 0, cancelled = 0, timeout = 0, auto = 0 } = counts;
  const how: [number, (of: { n: number }) => string][] = [
    [modified, m.plan_hist_modified], [back, m.plan_hist_sent_back], [confirmed - auto, m.plan_hist_confirmed], [auto, m.plan_hist_auto], [cancelled, m.plan_hist_cancelled], [timeout, m.plan_hist_timeout],
  ];
  const parts = how.flatMap(([count, say]) => (count > 0 ? [say({ n: count })] : []));
  const n = confirmed + modified + back + cancelled + timeout;
  return n ? m.plan_hist_line({ n, parts: parts.join(m.list_comma()) }) : '';
}

const fields: readonly string[] = ['description', 'tool_name', 'type', 'priority', 'expected_outcome', 'args'];

/** Whether a usual change is told by the names of the fields that were changed, not by a task's words. */
const byFields = ({ change, text }: UsualChange): boolean => change === 'changed' && text.split(', ').every((name) => fields.includes(name));

/** What a usual change is of, in words. */
export function usualText(usual: UsualChange): string {
  return byFields(usual) ? usual.text.split(', ').map((name) => fieldWord(name as TaskField)).join(m.list_comma()) : usual.text;
}

/** What people usually change in plans like this one. */
export function usualSentence(usual: UsualChange): string {
  const { change, times: n } = usual;
  const what = usualText(usual);
  if (change === 'changed') return byFields(usual) ? m.plan_usual_changed({ n, what }) : m.plan_usual_changed_task({ n, what });
  return { added: m.plan_usual_added, removed: m.plan_usual_removed, moved: m.plan_usual_moved }[change]({ n, what });
}
