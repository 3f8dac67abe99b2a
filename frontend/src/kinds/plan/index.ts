import { m } from '../../paraglide/messages';
import type { KindDefinition } from '../kind';
import { onCard, Plan } from './plan.svelte';
import { statusOf } from './run';
import { PlanRunning, provideRunning } from './running.svelte';
import { planEnd, planEvent, planGist, planOutcome } from './runwords';

/** Tasks that an operator confirms or changes before they run, and watches while they do. */
export const plan: KindDefinition = {
  label: m.kind_plan,
  icon: 'm3.500 6.500 1.500 1.500 3-3M3.500 16.500 5 18l3-3M12 6.500h9M12 16.500h9',
  shade: 'plan',
  answer: 'decision',
  page: () => import('./page'),
  card: () => import('./Card.svelte'),
  batch: () => import('./Batch.svelte'),
  end: () => import('./End.svelte'),
  tag: () => import('./RunTag.svelte'),
  bar: () => import('./TaskByTask.svelte'),
  settings: () => import('./PresetsBox.svelte'),
  history: {
    label: m.planrun_figures,
    about: m.planrun_figures_show,
    figures: () => import('./PlanFiguresRow.svelte'),
    ends: [
      { value: '', label: m.history_any_outcome },
      { value: 'confirmed', label: m.planrun_outcome_confirmed },
      { value: 'modified', label: m.planrun_outcome_modified },
      { value: 'sent_back', label: m.planrun_outcome_sent_back },
      { value: 'cancelled', label: m.outcome_cancelled },
      { value: 'timeout', label: m.outcome_timeout },
    ],
    query: (end) => ({ state: 'closed', plan_status: end }),
  },
  wide: 'page',
  goesOn: true,
  showsContext: (name) => name !== 'cwd',
  outcome: planOutcome,
  gist: planGist,
  ending: planEnd,
  good: (op) => op.state === 'completed' && statusOf(op) !== 'cancelled',
  event: planEvent,
  controller: (opened) => new Plan(opened),
  provide: (opened) => void provideRunning(new PlanRunning(opened.app, opened.id)),
  onCard: (command, op, opened) => onCard(command, op, opened.as(Plan)),
};
