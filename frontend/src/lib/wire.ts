/**
 * The wire format of the REST API and the WebSocket, as backend/human defines it. Times are RFC 3339 in UTC.
 */

import type { GateRisk, GateRule, Ruling, RulePreview } from './gatewire';
import type { Order, PlanAnswer, PlanRun, TaskProgress, Vote } from './planwire';

export type Kind = 'feedback' | 'bash' | 'desktop' | 'browser' | 'review' | 'approve' | 'permission' | 'plan';
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
  /** Where values of fields came from; nothing for what was only typed. */
  field_sources?: Record<string, FieldSource>;
  attachments?: string[];
  /** What the agent should know, each with its evidence. */
  findings?: Finding[];
  /** What the agent could do next. */
  suggestions?: Finding[];
  /** The summary it was drafted from. */
  summary_id?: string;
  /** Of a plan: what was done with it. */
  plan?: PlanAnswer;
}

export type RefKind = 'action' | 'picture' | 'command' | 'field' | 'step' | 'message' | 'answer' | 'request';

/** One piece of evidence in an operation. */
export interface Ref {
  kind: RefKind;
  /** Of an action, picture or command. */
  recording_id?: string;
  id: string;
}

export type FindingKind = 'value' | 'outcome' | 'error' | 'detour' | 'undone' | 'slow' | 'done' | 'unseen' | 'note';

/** One thing an agent should know, with what it rests on. */
export interface Finding {
  /** f1, f2, ... in the summary that drafted it; absent for one the operator added. */
  finding_id?: string;
  kind: FindingKind;
  text: string;
  evidence: Ref[];
  confidence?: number;
  /** The operator wrote it, or changed its words. */
  by_hand?: boolean;
  /** In a draft: the operator left it out. */
  cut?: boolean;
}

/** What a summarizer makes of an operation. */
export interface Report {
  line: string;
  text: string;
  findings: Finding[];
  suggestions: Finding[];
}

export type Tongue = 'en' | 'zh-CN';

/** A draft that a summarizer made. It never changes once it is done. */
export interface Summary {
  summary_id: string;
  operation_id: string;
  recordings: string[];
  summarizer: string;
  language: Tongue;
  state: 'running' | 'done' | 'failed' | 'stopped' | 'needs_consent';
  progress?: { share: number; note?: string };
  started_at: string;
  took_ns?: number;
  report: Report;
  dropped: { text: string; why: string }[];
  problem?: string;
  /** The summarizer that failed, where this one serves in its place. */
  instead_of?: string;
  model?: string;
}

/** What was made of an operation, and by what it could be. */
export interface Drafts {
  /** Oldest first. */
  summaries: Summary[];
  chosen: string[];
  fitting: string[];
  /** Ids of drafts from before something was cut, masked, reworded or shared in the recordings. */
  stale: string[];
  language: Tongue;
}

export interface DraftRequest {
  with?: string;
  language?: Tongue;
  consent?: 'once' | 'always';
}

/** What would be sent to another machine. */
export interface Showing {
  host: string;
  model: string;
  system: string;
  text: string;
  pictures: Ref[];
  tokens: number;
  /** 'project:NAME' or 'agent:NAME': what 'always' would cover. */
  scope: string;
  consented: boolean;
}

/** How operators took the drafts of a summarizer. */
export interface Score {
  drafts: number;
  released: number;
  kept: number;
  edited: number;
  cut: number;
  added: number;
  dropped: number;
  failed: number;
}

/** A summarizer there is. */
export interface Known {
  name: string;
  title: Record<string, string>;
  kinds: string[];
  sources: string[];
  languages: string[];
  limit_ns: number;
  deterministic: boolean;
  /** The host that what it reads is sent to. */
  sends?: string;
  model?: string;
  pictures?: boolean;
  built_in: boolean;
  score: Score;
}

export interface Consent {
  consent_id: string;
  scope: string;
  summarizer: string;
  host: string;
  by: string;
  at: string;
}

export interface Summarizers {
  summarizers: Known[];
  problems: { name: string; text: string }[];
  consents: Consent[];
  folder: string;
}

/** Where the value of a field came from: a pick of a recording. */
export interface FieldSource {
  recording_id: string;
  action_id: string;
  picked: string;
  /** The value was changed by hand afterwards. */
  corrected?: boolean;
  at: string;
  url?: string;
  selector?: string;
  /** Id of the crop. */
  picture?: string;
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
  /** Of kind permission: what the operator chose. */
  choice?: AnswerChoice;
  /** Of the choice to change: the arguments it may run with, and no others. */
  args?: JsonObject;
  /** The copy that was made before it ran. */
  backup?: Backup;
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
  /** Ids of its recordings, the first begun first. */
  recordings: string[];
  /** Of a plan that several operators have to confirm: what each said last. */
  votes?: Vote[];
  /** Of one task of a plan, which is confirmed by itself: the plan. */
  part_of?: string;
  /** Of a confirmed plan: how far it has come. */
  run?: PlanRun;
}

/** One change of one operation, as its timeline tells it. */
export interface TimelineEvent {
  seq: number;
  type: string;
  at: string;
  operation_id: string;
  version: number;
  by: Actor;
  data: { text?: string; channel?: string; until?: string; answer?: Answer; progress?: TaskProgress; order?: Order };
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

export type SourceName = 'input' | 'windows' | 'elements' | 'screen' | 'files' | 'clipboard' | 'browser' | 'recorder';

/** What a source can deliver, and in a recording what it did. */
export interface SourceState {
  source: SourceName;
  status: 'complete' | 'partial' | 'missing' | 'off';
  /** A word for the reason, such as 'wayland'. */
  code?: string;
  detail?: string;
  fix?: string;
  seen?: number;
  stored?: number;
  lost?: number;
}

/** A stretch in which something was not recorded. Times are in nanoseconds from the start of the recording. */
export interface Gap {
  from_ns: number;
  to_ns: number;
  source?: string;
  reason: 'paused' | 'excluded' | 'lost' | 'overflow' | 'crash' | 'limit';
  count?: number;
}

export interface Bounds {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** One display. The origin is that of the whole desktop; `scale` pixels of a picture make one unit. */
export interface Screen extends Bounds {
  scale: number;
}

export interface RecordingOptions {
  folders?: string[];
  clipboard?: 'off' | 'kind' | 'content';
  pictures?: boolean;
  /** The desktop alone is recorded where both are absent. */
  desktop?: boolean;
  browser?: BrowserOptions;
}

/** What is opened, and what of it is recorded besides what is done in it. */
export interface BrowserOptions {
  /** Absent: the operation's own. */
  url?: string;
  profile?: 'kept' | 'throwaway';
  /** Where a browser that runs already listens for a debugger. */
  attach?: string;
  network?: boolean;
  console?: boolean;
  dom?: boolean;
}

export interface RecordingCounts {
  events: number;
  clicks: number;
  keys: number;
  pictures: number;
  equal_pictures: number;
  masked: number;
  lost: number;
}

export interface Recording {
  recording_id: string;
  operation_id: string;
  by: string;
  state: 'recording' | 'paused' | 'stopped' | 'interrupted';
  reason?: 'operator' | 'limit' | 'operation_ended' | 'shutdown' | 'crash' | 'failed';
  started_at: string;
  ended_at?: string;
  /** Nanoseconds recorded, pauses left out. */
  elapsed_ns: number;
  /** Nanoseconds to the last event, pauses included. */
  span_ns: number;
  system: string;
  screens: Screen[];
  options: RecordingOptions;
  sources: SourceState[];
  counts: RecordingCounts;
  complete: boolean;
  gaps: Gap[];
  bytes: number;
  max_bytes: number;
  max_elapsed_ns: number;
  near_limit: boolean;
}

/** A region of one picture, or of every one, in its pixels. */
export interface Mask extends Bounds {
  picture?: string;
}

/** What leaves a recording, and how. */
export interface Edits {
  version: number;
  cuts: string[];
  masked_texts: string[];
  masks: Mask[];
  words?: Record<string, string>;
  share_text: boolean;
  share_pictures: boolean;
}

export interface App {
  name: string;
  pid?: number;
  exe?: string;
}

export interface UiElement {
  role: string;
  name?: string;
  bounds: Bounds;
  states?: string[];
  ancestry?: UiElement[];
  /** Of an element of a page: its tag, and of an input its type, as in 'input/email'. */
  tag?: string;
  /** The best first; each descends through shadow roots. */
  selectors?: (string[] | null)[];
  secret?: boolean;
  hidden?: string;
}

export interface FileChange {
  op: 'created' | 'changed' | 'renamed' | 'deleted';
  path: string;
  to?: string;
  dir?: boolean;
  size?: number;
}

export type ActionType =
  | 'click' | 'double_click' | 'triple_click' | 'drag' | 'scroll' | 'type' | 'shortcut' | 'paste' | 'copy'
  | 'switch_window' | 'open_app' | 'close_window' | 'file' | 'note' | 'gap'
  | 'open_page' | 'close_page' | 'switch_page' | 'navigate' | 'choose' | 'check' | 'hover' | 'dialog' | 'upload' | 'download' | 'pick';

/** A page of a browser, and the frame of it something happened in. */
export interface WebPage {
  /** The tab: t1, t2, in the order they were seen. */
  target: string;
  opener?: string;
  url: string;
  title?: string;
  /** From the page down, which child each frame is, from 0. */
  frame?: number[];
  frame_url?: string;
  /** The viewport in CSS pixels: all of a picture of the page. */
  w?: number;
  h?: number;
  scale?: number;
}

export type Take = 'element' | 'selection' | 'table' | 'list';

/** Asks the operator to point at something on the page for a field; with no field, no more. */
export interface PickRequest {
  field: string;
  take?: Take;
}

/** What was taken from a page for a field. */
export interface Pick {
  field: string;
  take: Take;
  /** Of a table or list its rows as JSON. */
  text: string;
  rows?: (string[] | null)[];
  /** The first of rows is a header. */
  header?: boolean;
  /** What was picked, in the crop, in its pixels. */
  bounds?: Bounds;
}

/** A file that came or went. */
export interface Transfer {
  name: string;
  size?: number;
  type?: string;
  url?: string;
  sha256?: string;
  state?: 'completed' | 'canceled';
}

/** What a person did, as derived from recorded events. */
export interface Action {
  action_id: string;
  type: ActionType;
  at_ns: number;
  end_ns: number;
  child_seqs: number[];
  button?: number;
  modifiers?: string[];
  key?: string;
  x?: number;
  y?: number;
  to_x?: number;
  to_y?: number;
  delta_x?: number;
  delta_y?: number;
  text?: string;
  value?: string;
  count?: number;
  hidden?: string;
  element?: UiElement;
  target?: UiElement;
  app?: App;
  window?: { id: string; title: string; bounds: Bounds };
  file?: FileChange;
  gap?: Gap;
  /** Of an action in a browser; places are then from the top left of the page. */
  page?: WebPage;
  transfers?: Transfer[];
  pick?: Pick;
  /** Id of the action that led to it. */
  caused_by?: string;
  before?: string;
  after?: string;
  step?: number;
  words: string;
  cut?: boolean;
  masked?: boolean;
}

/** An action that seems to have done a step of the checklist. */
export interface Suggestion {
  step: number;
  action_id: string;
  at_ns: number;
}

/** The parts of a raw event that playing back needs. */
export interface RecordedEvent {
  seq: number;
  t_mono_ns: number;
  type: string;
  x?: number;
  y?: number;
  button?: number;
  picture?: string;
  step?: number;
  done?: boolean;
  page?: WebPage;
  to_x?: number;
  to_y?: number;
  /** An event of rrweb. */
  dom?: JsonObject;
}

export interface ReplayState {
  recording_id: string;
  state: 'idle' | 'playing' | 'done' | 'stopped' | 'failed';
  action_id?: string;
  done: number;
  total: number;
  detail?: string;
}

export type Reversibility = 'reversible' | 'costly' | 'irreversible';
export type BlastRadius = 'file' | 'project' | 'machine' | 'shared' | 'production' | 'public';
export type Certainty = 'certain' | 'likely' | 'possible';
export type Kept = 'absent' | 'no_copy' | 'made_here' | 'committed' | 'ignored';
export type ChoiceAction = 'allow' | 'deny' | 'backup' | 'difference' | 'instead' | 'change';
/** What an answer can say: a difference is looked at, and is no answer. */
export type AnswerChoice = Exclude<ChoiceAction, 'difference'>;

/** What there is at a path. */
export interface Census {
  files?: number;
  bytes?: number;
  kept?: Kept;
}

/** A sentence of the server's. What was recorded before sentences had codes has a text alone. */
export interface Said {
  /** In English. */
  text: string;
  code?: string;
  /** The values in the sentence's places. */
  params?: Record<string, string>;
}

/** One thing that a call would do. */
export interface Effect extends Census {
  /** One of lib/verdict.ts; a server may know more. */
  verb: string;
  /** What it is done to, as the call names it. */
  resource?: string;
  /** The code of resource, where the call has no name for it. */
  thing?: string;
  /** The same resolved; absent where that is not known. */
  target?: string;
  certainty: Certainty;
  risk: GateRisk;
  reversibility: Reversibility;
  blast_radius: BlastRadius;
  rule_id: string;
  floor?: boolean;
  /** In English. */
  words?: string;
}

/** One answer that an operator can give. Its words are English. */
export interface GateChoice {
  action: ChoiceAction;
  label: string;
  description?: string;
  /** Of `description`. */
  code?: string;
  /** Of instead: a command that itself passes at a lower risk. */
  command?: string;
  default?: boolean;
}

/** Words that must be typed before a call may run; without `must` any do. */
export interface GateInput {
  prompt: string;
  placeholder?: string;
  must?: string;
}

/** One reason for a decision. */
export interface Because {
  /** A rule of the engine, trust.VERB, rule.ID of one's own, or policy. */
  rule_id: string;
  verb?: string;
  resource?: string;
  risk?: GateRisk;
  /** Of trust.VERB, between 0 and 1. */
  trust?: number;
  /** What `said` says, in English. */
  text: string;
  said?: Said[];
}

/** What the gatekeeper says about one call. */
export interface Verdict {
  decision: Ruling;
  risk: GateRisk;
  reversibility: Reversibility;
  blast_radius: BlastRadius;
  floor?: boolean;
  /** What `said` says, in English. */
  reason: string;
  said?: Said[];
  rule_ids: string[];
  /** The weightiest first. */
  because?: Because[];
  /** The gravest first. */
  effects: Effect[];
  form?: 'confirm' | 'choice' | 'input';
  input?: GateInput;
  choices?: GateChoice[];
  digest: string;
}

/** The working tree that a call is made in. */
export interface ProjectInfo {
  name?: string;
  root?: string;
  git: boolean;
  branch?: string;
  files?: number;
  clean: boolean;
  pushed: boolean;
}

export interface Annotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** A call of a tool before it runs, as its client tells it. */
export interface ToolCall {
  tool: string;
  args?: JsonObject;
  cwd?: string;
  root?: string;
  home?: string;
  schema?: JsonObject;
  about?: string;
  annotations?: Annotations;
  client?: string;
  task?: string;
  session_id?: string;
  call_id?: string;
}

/** What an operation of kind permission asks: its details. */
export interface Question extends ToolCall {
  risk_level: GateRisk;
  verdict: Verdict;
  project?: ProjectInfo;
  /** One of these kinds of effects is what the call would do. */
  check?: { options: string[] };
}

export interface QuestionView extends Question {
  /** The rule that 'always allow' would make; absent where none may be made. */
  standing?: RulePreview;
}

export interface FileDifference extends Census {
  path: string;
  what: 'added' | 'changed' | 'deleted' | 'moved';
  diff?: string;
}

/** What a call would change. */
export interface Difference {
  files: FileDifference[];
  more?: number;
  text?: string;
}

/** A verified copy that was made before a call ran. */
export interface Backup {
  /** By which it is restored; absent of a git stash, which git restores. */
  backup_id?: string;
  /** The folder that holds it, or the name of a git stash. */
  path: string;
  stash?: boolean;
  files: number;
  bytes: number;
  at: string;
  until?: string;
  tool?: string;
}

/** What came of restoring a backup: how much was put back, and how much was still there unchanged. */
export interface Restored {
  files: number;
  bytes: number;
  kept: number;
}

/** An operator's answer to a question of the gatekeeper. */
export interface PermissionAnswer {
  choice: AnswerChoice;
  reason?: string;
  digest: string;
  typed?: string;
  check?: string;
  args?: JsonObject;
  rule?: GateRule;
}

/** What would be decided about a call. */
export interface Trial {
  verdict: Verdict;
  micros: number;
}

/** What the live channel says, besides the events of single operations. */
export type Live =
  | { type: 'hello'; seq: number }
  | { type: 'recording'; recording: Recording }
  | { type: 'recording_gone'; recording_id: string }
  | { type: 'summary'; summary: Summary }
  | ({ type: 'presence'; operation_id: string } & Presence)
  | { type: string; seq: number; operation_id: string; version: number };
