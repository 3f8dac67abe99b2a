import type { paths } from './schema';

/** A call of the API, as the server names it: 'GET /api/settings'. */
export type Call = `${'GET' | 'POST' | 'PUT' | 'DELETE'} ${keyof paths & string}`;

/** What a session may do. */
export interface Rights {
  /** The only calls that it may make. Absent: all of an operator's. */
  calls?: readonly string[];
}

/** Whether a session may make a call. What it may not is not offered. */
export function may({ calls }: Rights, call: Call): boolean {
  return !calls || calls.includes(call);
}
