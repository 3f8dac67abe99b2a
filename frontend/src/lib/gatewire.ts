/**
 * What the REST API says of the gatekeeper itself, as backend/gate/keeper and backend/human define it. What it says of
 * one call, its verdict, is in wire.ts. Times are RFC 3339 in UTC.
 */

import type { Because, Effect, JsonObject, Said } from './wire';

export type Policy = 'permissive' | 'balanced' | 'strict';
export type Ruling = 'allow' | 'ask' | 'deny';
/** How a question ended; 'waiting' while it has not. */
export type GateOutcome = 'allowed' | 'refused' | 'expired' | 'withdrawn' | 'waiting';
export type GateRisk = 'none' | 'low' | 'medium' | 'high' | 'critical';

export interface GateCounts {
  allowed: number;
  asked: number;
  refused: number;
}

export interface RuleCounts {
  operator: number;
  file: number;
}

/** How the gatekeeper stands. */
export interface GateState {
  policy: Policy;
  /** Where gate.toml is, or would be. */
  file: string;
  /** Why what gate.toml says does not count. */
  problem?: string;
  model?: string;
  today: GateCounts;
  rules: RuleCounts;
  /** Roots of the working trees in which calls were judged, the latest first. */
  projects: string[];
}

/** A line of the log. */
export interface GateDecision {
  decision_id: string;
  at: string;
  agent_id: string;
  session_id?: string;
  client?: string;
  /** The root of the working tree. */
  project?: string;
  cwd?: string;
  tool: string;
  /** In a line; secrets are masked. */
  call: string;
  /** The gravest effect, in English. */
  words: string;
  decision: Ruling;
  risk: GateRisk;
  floor?: boolean;
  /** The one that counted most. */
  rule_id: string;
  rule_ids: string[];
  verbs: string[];
  digest: string;
  micros: number;
  operation_id?: string;
  /** Of what was asked. */
  outcome?: GateOutcome;
  choice?: 'allow' | 'deny' | 'backup' | 'difference' | 'instead' | 'change';
  by?: string;
  answered_at?: string;
  /** Seconds between the question being seen and the answer. */
  read_for?: number;
  /** The operator's own words. */
  reason?: string;
  because?: Because[];
  /** The gravest; secrets are masked. */
  effects?: Effect[];
  /** Secrets are masked; absent where they are long. */
  args?: JsonObject;
  /** Files that were not there before it. */
  makes?: string[];
}

export interface LogPage {
  decisions: GateDecision[];
  next?: string;
}

/** What an answer counted as. */
export type TrustWhy = 'allowed' | 'refused' | 'too_fast' | 'bulk' | 'floor';

export interface TrustPoint {
  at: string;
  value: number;
  /** Just before the answer; the value where there is none. */
  before: number;
  /** Absent: only time passed. */
  why?: TrustWhy;
}

export interface TrustLine {
  verb: string;
  /** In order; the last is that of now. */
  points: TrustPoint[];
}

export interface TrustReport {
  operator: string;
  project: string;
  from: string;
  to: string;
  initial: number;
  /** Over it, low risk needs no confirmation. */
  high: number;
  /** Under it, everything does. */
  low: number;
  lines: TrustLine[];
}

/** A rule of the user's own: of gate.toml, of a project's file, or a standing permission. */
export interface GateRule {
  rule_id: string;
  decision: Ruling;
  tool?: string;
  command?: string;
  path?: string;
  verbs?: string[];
  project?: string;
  session_id?: string;
  agent_id?: string;
  until?: string;
  reason?: string;
  source: 'file' | 'project' | 'operator';
  match?: string[];
  differ?: string[];
  by?: string;
  at?: string;
  /** Calls that it decided. */
  matched: number;
  last_used?: string;
}

/** A call that was made before, as often as it was. */
export interface PastCall {
  call: string;
  times: number;
  outcome: GateOutcome;
  last: string;
}

/** What a rule would have matched. */
export interface RulePreview {
  rule: GateRule;
  days: number;
  total: number;
  /** How many of them an operator refused. */
  refused: number;
  /** The most frequent first. */
  calls: PastCall[];
  /** What of the call no standing rule may cover, and why. */
  left_out?: Said[];
}

/** A rule that the operator's own answers suggest. */
export interface Proposal {
  key: string;
  rule: GateRule;
  times: number;
  /** Seconds that the fastest of the answers took. */
  least_read: number;
}
