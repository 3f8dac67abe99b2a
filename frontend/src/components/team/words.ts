import { timeOfDay } from '../../lib/time';
import type { DeskState, TeamPerson } from '../../lib/wire';
import { m } from '../../paraglide/messages';

/** Whether a member works now, in words; a dash for those who are not asked. */
export function stateWord({ state, away_until: until }: TeamPerson): string {
  if (state === 'away') return m.board_away({ time: until ? timeOfDay(until) : '' });
  return state === 'on' ? m.board_on() : state === 'off' ? m.board_off() : '–';
}

/** What a member's desks may do, in a word or two. */
export const roleWords = { agent: m.team_role_agent, operator: m.team_role_operator, lead: m.team_role_lead, auditor: m.team_role_auditor };

/** What was decided while this desk was offline, and when. */
export function laterWords({ does, at, to }: Omit<NonNullable<DeskState['later']>[number], 'by'>): string {
  const time = timeOfDay(at);
  if (does === 'hand_over') return m.later_hand_over({ name: to ?? '', time });
  return does === 'deny' ? m.later_deny({ time }) : m.later_decline({ time });
}
