import { call, type Connection } from '../backend/http';
import type { UnattendedGrant, UnattendedState } from '../lib/wire';

const of = (name: string): string => `/api/procedures/${encodeURIComponent(name)}/unattended`;

/** Lets agents run a procedure without an operator. @throws Problem with `conflict` where that cannot be given now */
export const letUnattended = (to: Connection, name: string, grant: UnattendedGrant): Promise<UnattendedState> => call(to, 'PUT', of(name), grant);

export const stopUnattended = (to: Connection, name: string): Promise<UnattendedState> => call(to, 'DELETE', of(name));
