/**
 * The wire format of plans, as backend/human and backend/plan define it. Times are RFC 3339 in UTC.
 */

import type { GateRisk } from './gatewire';
import type { Actor, Answer, Effect, JsonObject } from './wire';

export type PlanStatus = 'pending' | 'confirmed' | 'modified' | 'cancelled' | 'timeout';
export type PlanAction = 'confirm' | 'modify' | 'cancel';

/** One step of a plan. Its id stays the same when it is changed or moved. */
export interface Task {
  /** Absent in a new one: the server gives it one. */
  id?: string;
  description: string;
  tool_name?: string;
  type?: string;
  priority?: number;
  expected_outcome?: string;
  /** The tool's arguments, where they are known before. */
  args?: JsonObject;
}

/** What is known of one task of a plan. */
export interface TaskSummary {
  /** From 1. */
  index: number;
  id: string;
  description: string;
  tool: string;
  type?: string;
  priority?: number;
  expected_outcome?: string;
  risk_level: GateRisk;
  /** What it would do, the gravest first. */
  effects?: Effect[];
  /** The gatekeeper will ask again before it runs. */
  asked?: boolean;
  /** It changes something. */
  writes?: boolean;
  /** The median of earlier runs of such a task. */
  estimated_seconds?: number;
  /** How many those were. */
  runs?: number;
}

/** What a plan comes to. */
export interface TasksSummary {
  total_tasks: number;
  tasks: TaskSummary[];
  risk_level: GateRisk;
  /** How many tasks change something. */
  writes: number;
  /** Of the tasks that history knows. */
  estimated_seconds?: number;
  /** How many tasks history knows. */
  estimated_tasks: number;
  /** How many runs the estimate of the best known task is from. */
  runs: number;
}

/** What an operation of kind plan asks: its details. */
export interface PlanQuestion {
  risk_level: GateRisk;
  tasks: Task[];
  tasks_summary: TasksSummary;
  options: PlanAction[];
  /** How many operators have to agree. */
  confirmations: number;
  /** Who all have to be among them. */
  operators?: string[];
  cwd?: string;
  /** The plan this task is of, where tasks are confirmed one by one. */
  of?: string;
  /** The plan before it, of the same session. */
  replaces?: string;
  /** Why there is a new plan, in the agent's words. */
  why?: string;
}

export type ChangeKind = 'added' | 'removed' | 'changed' | 'moved';
export type TaskField = 'description' | 'tool_name' | 'type' | 'priority' | 'expected_outcome' | 'args';

/** One field of a task before and after, as text. */
export interface FieldChange {
  field: TaskField;
  was: string;
  is: string;
}

/** One difference between two lists of tasks. A task that was both moved and changed has two. */
export interface TaskChange {
  change: ChangeKind;
  id: string;
  /** As it is now; of a removed one, as it was. */
  description: string;
  /** Its place before, from 1. */
  from?: number;
  /** Its place now, from 1. */
  to?: number;
  fields?: FieldChange[];
}

/** The part of an answer that plans have beside the words. */
export interface PlanAnswer {
  action: PlanAction;
  /** Every task that may run, in order; none where words say what to change. */
  tasks?: Task[];
  changes?: TaskChange[];
  task_by_task?: boolean;
  /** Nobody was asked: every task is safe, and the settings let such plans pass. */
  auto?: boolean;
}

/** One operator's answer to a plan that needs more than one. */
export interface Vote {
  by: Actor;
  at: string;
  answer: Answer;
}

export type PlanRunState = 'waiting' | 'running' | 'paused' | 'stopped' | 'finished';
export type TaskState = 'waiting' | 'running' | 'done' | 'failed' | 'skipped';
export type OrderKind = 'pause' | 'resume' | 'skip' | 'stop' | 'change';

/** One task of a running plan. */
export interface TaskRun extends Task {
  state: TaskState;
  began_at?: string;
  ended_at?: string;
  /** What came of it, in the agent's words; or why it was skipped. */
  note?: string;
  skipped_by?: string;
}

/** An operator's, to an agent whose plan runs. */
export interface Order {
  order: OrderKind;
  task_id?: string;
  tasks?: Task[];
  changes?: TaskChange[];
  /** As it is sent: the tasks that count as moved. */
  moved?: string[];
  text?: string;
}

export interface GivenOrder extends Order {
  by: Actor;
  at: string;
}

/** How far a confirmed plan has come. */
export interface PlanRun {
  state: PlanRunState;
  tasks: TaskRun[];
  orders: GivenOrder[];
}

export interface TaskProgress {
  task_id: string;
  state: TaskState;
  note?: string;
}

/** What an operator says to a plan. */
export interface PlanResponse {
  action: PlanAction;
  modified_tasks?: Task[];
  /** The tasks that count as moved. */
  moved?: string[];
  user_message?: string;
  task_by_task?: boolean;
  /** The operation's: what was drawn is what is answered. */
  digest?: string;
}

/** A response with what it changed, who gave it and when. */
export interface GivenResponse {
  session_id: string;
  action: PlanAction;
  modified_tasks?: Task[];
  user_message?: string;
  task_by_task?: boolean;
  changes?: TaskChange[];
  by?: string;
  at: string;
}

export interface VoteView {
  by: string;
  at: string;
  action: PlanAction;
}

/** How a plan stands. */
export interface PlanStanding {
  session_id: string;
  operation_id?: string;
  version?: number;
  status: PlanStatus;
  created_at: string;
  expires_at?: string;
  user_response?: GivenResponse;
  auto?: 'off' | 'safe';
  tasks: Task[];
  tasks_summary?: TasksSummary;
  question?: string;
  votes?: VoteView[];
  confirmations?: number;
  run?: PlanRun;
  message: string;
}

/** A list of tasks to put into plans, or to begin a plan with. */
export interface Preset {
  preset_id?: string;
  name: string;
  /** When to use it. */
  about?: string;
  tasks: Task[];
  by?: string;
  at?: string;
}

/** Plans by how they ended. */
export interface PlanOutcomes {
  confirmed: number;
  modified: number;
  cancelled: number;
  timeout: number;
  /** Of confirmed: nobody was asked. */
  auto: number;
}

/** A change that people made more than once, or in the plans most alike. */
export interface UsualChange {
  change: ChangeKind;
  /** The task, or the field that was changed. */
  text: string;
  times: number;
  /** Of added: to put it into this plan, too. */
  task?: Task;
}

/** An earlier plan. */
export interface PastPlan {
  operation_id: string;
  description: string;
  agent_id: string;
  status: PlanStatus;
  at: string;
  /** 0 to 1. */
  alike: number;
  changes: TaskChange[];
}

/** What was decided for plans like one. */
export interface PlanHistory {
  /** The most alike first. */
  alike: PastPlan[];
  /** Of all that are alike. */
  counts: PlanOutcomes;
  /** The most frequent first. */
  usual: UsualChange[];
  /** That fit, the best first. */
  presets: Preset[];
}

/** How long tasks of one tool take. */
export interface ToolDuration {
  tool: string;
  runs: number;
  failed: number;
  median_seconds: number;
}

/** How plans were answered. */
export interface PlanStatistics {
  days: number;
  plans: number;
  outcomes: PlanOutcomes;
  /** From the ring to the answer, of those that people answered. */
  median_seconds: number;
  p90_seconds: number;
  /** What people change most. */
  changes: UsualChange[];
  /** Oldest first; days without a plan are there, too. */
  per_day: ({ day: string } & PlanOutcomes)[];
  /** The most frequent first. */
  tools: ToolDuration[];
}
