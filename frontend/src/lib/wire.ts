/**
 * The wire format of the REST API and the WebSocket, as backend/human defines it. Times are RFC 3339 in UTC.
 */

export type Kind = 'feedback' | 'bash' | 'desktop' | 'browser' | 'review' | 'approve';
export type State = 'pending' | 'claimed' | 'in_progress' | 'waiting_input' | 'completed' | 'cancelled' | 'declined';
export type Risk = 'low' | 'medium' | 'high' | 'critical';
export type Decision = 'approve' | 'deny';
export type Role = 'agent' | 'operator' | 'system';

export interface Actor {
  role: Role;
  name?: string;
}

export interface Message {
  by: Actor;
  at: string;
  text: string;
}

export interface Answer {
  human_input?: string;
  execution_result?: string;
  summary?: string;
  key_findings?: string[];
  decision?: Decision;
  fields?: Record<string, string>;
  attachments?: string[];
}

export interface Draft extends Answer {
  by: Actor;
  at: string;
}

export interface Result extends Answer {
  by: Actor;
  at: string;
  /** SHA-256, in hex, of the exact bytes the answer is bound to. */
  digest: string;
}

export interface Ending {
  by: Actor;
  at: string;
  reason?: string;
}

export interface Delivery {
  channel: string;
  shown?: string;
  seen?: string;
  failed?: string;
}

/** Whether an agent holds the line for its operation right now, and when it last did. */
export interface Presence {
  waiting: boolean;
  last_contact?: string;
}

/** Anything JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export interface Operation {
  operation_id: string;
  version: number;
  action_type: Kind;
  state: State;
  overdue: boolean;
  description: string;
  /** Absent in lists, and when the agent sent none. */
  details?: JsonObject;
  context?: JsonObject;
  agent_id: string;
  session_id?: string;
  priority: number;
  risk?: Risk;
  digest: string;
  created_at: string;
  updated_at: string;
  expires_at?: string;
  on_timeout: 'mark' | 'cancel';
  claimed_by?: string;
  messages: Message[];
  result?: Result;
  ended?: Ending;
  delivered_at?: string;
  draft?: Draft;
  snoozed_until?: string;
  deliveries?: Delivery[];
  presence?: Presence;
  timeout?: number;
}

/** One change of one operation, as its timeline tells it. */
export interface TimelineEvent {
  seq: number;
  type: string;
  at: string;
  operation_id: string;
  version: number;
  by: Actor;
  data: { text?: string; channel?: string; until?: string; answer?: Answer };
}

export interface Agent {
  name: string;
  created_at: string;
  last_seen?: string;
  online: boolean;
  pending: number;
  /** Once no key of it is good any more. */
  revoked_at?: string;
}

export type SettingValue = boolean | number | string | string[];

export interface Setting {
  key: string;
  type: 'boolean' | 'integer' | 'text' | 'list';
  value: SettingValue;
  default: SettingValue;
  source: 'default' | 'file' | 'environment' | 'flag';
  /** The file and line, the variable or the flag. */
  from?: string;
  description: string;
  unit?: string;
  allowed?: string[];
  min?: number;
  max?: number;
  env: string;
}

export interface SettingList {
  settings: Setting[];
  /** After a change: it counts once Deskbell was started again. */
  restart_required?: boolean;
}

export interface Check {
  name: string;
  status: 'ok' | 'warn' | 'fail';
  detail: string;
  fix?: string;
}

/** What the live channel says, besides the events of single operations. */
export type Live =
  | { type: 'hello'; seq: number }
  | ({ type: 'presence'; operation_id: string } & Presence)
  | { type: string; seq: number; operation_id: string; version: number };
