import type { DeskState } from './wire';

/** The state of a desk that is in a team and not connected to it; undefined for any other. */
export function offline(team: DeskState | undefined): DeskState | undefined {
  return team?.team && !team.restart && !team.left && !team.online ? team : undefined;
}
