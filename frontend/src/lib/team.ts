import type { DeskState } from './wire';

/** The state of a desk that is in a team and not connected to it; undefined for any other. */
export function offline(team: DeskState | undefined): DeskState | undefined {
  return team?.team && !team.restart && !team.left && !team.online ? team : undefined;
}

/** The state of a desk of which there is something to say: it is not connected to its team, or what was decided meanwhile came too late. */
export function noteworthy(team: DeskState | undefined): DeskState | undefined {
  return offline(team) ?? (team?.later?.some(({ late }) => late) ? team : undefined);
}
