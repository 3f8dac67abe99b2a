/** The nouns of the REST API and the WebSocket, each as the API describes it. Times are RFC 3339 in UTC. */
import type { components } from './schema';

/** Anything JSON can say. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

/** A schema in which whatever the API leaves open is JSON. */
type Open<T> = unknown extends T ? Json : T extends object ? { [Name in keyof T]: Open<T[Name]> } : T;
type Schemas = Open<components['schemas']>;

// Operations, recordings, summaries and verdicts.
export type Kind = Operation['action_type'];
export type State = Operation['state'];
export type Risk = NonNullable<Operation['risk']>;
export type Decision = NonNullable<Answer['decision']>;
export type Role = Actor['role'];
export type Actor = Schemas['Actor'];
export type Message = Schemas['Message'];
export type Answer = Schemas['Answer'];
export type Sink = Schemas['SinkState'];
export type View = Schemas['View'];
export type Removal = Schemas['Removal'];
export type Archive = Schemas['Archive'];
export type ArchiveState = Schemas['ArchiveState'];
export type DataState = Schemas['DataState'];
export type DeskState = Schemas['DeskState'];
export type LeftTeam = Schemas['LeftTeam'];
export type TeamBoard = Schemas['TeamBoard'];
export type Procedure = Schemas['Procedure'];
export type ProcedureStep = Schemas['ProcedureStep'];
export type ProcedureTarget = Schemas['ProcedureTarget'];
export type ProcedureCheckpoint = Schemas['ProcedureCheckpoint'];
export type ProcedureParameter = Schemas['ProcedureParameter'];
export type ProcedureEffect = Schemas['ProcedureEffect'];
export type ProcedureDraft = Schemas['ProcedureDraft'];
export type ListedProcedure = Schemas['Listed'];
export type RepeatedWork = Schemas['RepeatedWork'];
export type ProcedureOffer = Schemas['Offer'];
export type ProcedureOffers = Schemas['ProcedureOffers'];
export type ShownProcedure = Schemas['Shown'];
export type ProcedureAgents = Schemas['ProcedureAgents'];
export type UnattendedGrant = Schemas['UnattendedGrant'];
export type UnattendedState = Schemas['UnattendedState'];
export type ProcedureChange = Schemas['Change'];
export type TaughtRow = Schemas['TaughtRow'];
export type LintFinding = Schemas['LintFinding'];
export type RunOfProcedure = Schemas['RunOfProcedure'];
export type RunOrder = Schemas['RunOrder'];
export type Hours = Schemas['Hours'];
export type MemberChange = Schemas['MemberChange'];
export type TeamRules = Schemas['TeamRules'];
export type TeamInvitation = Schemas['TeamInvitation'];
export type TeamMembers = Schemas['TeamMembers'];
export type RecordingHolder = Schemas['RecordingHolder'];
export type TeamPerson = Schemas['TeamPerson'];
export type TeamSkill = Schemas['TeamSkill'];
export type TeamWeek = Schemas['TeamWeek'];
export type TeamClaim = Schemas['TeamClaim'];
export type ArchiveDifference = Schemas['ArchiveDifference'];
export type Attachment = Schemas['Attachment'];
export type StepResult = Schemas['StepResult'];
export type Capturable = Schemas['Capturable'];
export type CaptureRequest = Schemas['CaptureRequest'];
export type CodeComment = Schemas['CodeComment'];
export type FocusResult = Schemas['FocusResult'];
export type RefKind = Ref['kind'];
export type Ref = Schemas['Ref'];
export type FindingKind = Finding['kind'];
export type Finding = Schemas['Finding'];
export type Report = Schemas['Report'];
export type ReportLanguage = Summary['language'];
export type Summary = Schemas['Summary'];
export type Verification = Schemas['Verification'];
export type Chain = Schemas['Chain'];
export type ServerKey = Schemas['ServerKey'];
/** A receipt, as far as it is shown; docs/receipts.md has the rest. */
export interface Receipt {
  action: { parameters: { digest: string } };
  contexts: { approver: string; means: 'session' | 'pin' | 'system' | 'passkey' }[];
  signoffs: { key_class: 'A' | 'C'; approver_key_id: string; signature: string }[];
  consumption: { committed_at: string };
  log_proof: { leaf_index: number; checkpoint: { prev_receipt_hash?: string } };
}
export type Drafts = Schemas['Drafts'];
export type DraftRequest = Schemas['DraftRequest'];
export type Showing = Schemas['Showing'];
export type Score = Schemas['Score'];
export type Known = Schemas['Known'];
export type Consent = Schemas['Consent'];
export type Summarizers = Schemas['Summarizers'];
export type FieldSource = Schemas['FieldSource'];
export type Draft = Schemas['Draft'];
export type Result = Schemas['Result'];
export type Ending = Schemas['Ending'];
export type Delivery = Schemas['Delivery'];
export type Presence = Omit<Schemas['Presence'], 'operation_id'>;
export type Operation = Schemas['Operation'];
export type TimelineEvent = Schemas['Event'];
export type Hit = Schemas['Hit'];
export type HitList = Schemas['HitList'];
export type Agent = Schemas['Agent'];
export type HistoryStatistics = Schemas['HistoryStatistics'];
export type AttentionReport = Schemas['AttentionReport'];
export type AttentionFigures = Schemas['AttentionFigures'];
export type UnchangedQuestion = Schemas['UnchangedQuestion'];
export type DayFigures = Schemas['DayFigures'];
export type GroupFigures = Schemas['GroupFigures'];
export type Times = Schemas['Times'];
export type SettingValue = Setting['value'];
export type Setting = Schemas['Setting'];
export type SettingList = Schemas['SettingList'];
export type Check = Schemas['DoctorCheck'];
export type SourceName = SourceState['source'];
export type SourceState = Schemas['SourceState'];
export type Gap = Schemas['Gap'];
export type Bounds = Schemas['Bounds'];
export type Screen = Schemas['Screen'];
export type RecordingOptions = Schemas['RecordingOptions'];
export type BrowserOptions = Schemas['BrowserOptions'];
export type RecordingCounts = Schemas['RecordingCounts'];
export type Recording = Schemas['Recording'];
export type Mask = Schemas['Mask'];
export type Edits = Schemas['Edits'];
/** An approval as it would be with edited arguments. */
export type EditedView = Schemas['EditedView'];
export type App = Schemas['App'];
export type UiElement = Schemas['Element'];
export type FileChange = Schemas['FileChange'];
export type ActionType = Action['type'];
export type WebPage = Schemas['WebPage'];
export type Take = Pick['take'];
export type PickRequest = Schemas['PickRequest'];
export type Pick = Schemas['Pick'];
export type Transfer = Schemas['Transfer'];
export type Action = Schemas['Action'];
export type Suggestion = Schemas['Suggestion'];
export type RecordedEvent = Schemas['RecordedEvent'];
export type ReplayState = Schemas['ReplayState'];
export type Reversibility = Verdict['reversibility'];
export type BlastRadius = Verdict['blast_radius'];
export type Certainty = Effect['certainty'];
export type Kept = NonNullable<Effect['kept']>;
export type ChoiceAction = GateChoice['action'];
export type AnswerChoice = PermissionAnswer['choice'];
export type Census = { [Name in 'files' | 'bytes' | 'kept']?: Effect[Name] };
export type Effect = Schemas['Effect'];
export type GateChoice = Schemas['Choice'];
export type GateInput = Schemas['Input'];
export type Because = Schemas['Because'];
export type Verdict = Schemas['Verdict'];
export type ProjectInfo = Schemas['ProjectInfo'];
export type Annotations = Schemas['Annotations'];
export type ToolCall = Omit<Schemas['TrialCall'], 'policy'>;
export type Question = Omit<QuestionView, 'standing'>;
export type QuestionView = Schemas['QuestionView'];
export type Changed = Schemas['Changed'];
export type ChangedFile = Schemas['ChangedFile'];
export type JudgedFile = Schemas['JudgedFile'];
export type FileDifference = Schemas['FileDifference'];
export type Difference = Schemas['Difference'];
export type Backup = Schemas['Backup'];
export type Restored = Schemas['Restored'];
export type PermissionAnswer = Schemas['AnswerRequest'];
export type Trial = Schemas['Trial'];
export type CallPart = Schemas['CallPart'];
export type PartCheck = Schemas['PartCheck'];
export type Attempt = Schemas['Attempt'];
export type Try = Attempt['tries'][number];
export type Ancestor = Try['line'][number];
export type Live = Schemas['SocketMessage'];
export type StoppedRun = Schemas['StoppedRun'];

// The gatekeeper itself.
export type Policy = GateState['policy'];
export type Ruling = Verdict['decision'];
export type GateOutcome = PastCall['outcome'];
export type GateRisk = Verdict['risk'];
export type Said = Schemas['Sentence'];
export type ExportOffer = Schemas['ExportOffer'];

// Clients and phones.
export type Client = Schemas['AgentClient'];
export type ClientChange = Schemas['ClientChange'];
export type ClientProof = Schemas['ClientProof'];
export type Phone = Schemas['Phone'];
export type PhoneState = Schemas['PhoneState'];
export type Pairing = Schemas['Pairing'];
export type GateCounts = Schemas['Counts'];
export type RuleCounts = Schemas['RuleCounts'];
export type GateState = Schemas['State'];
export type GateDecision = Schemas['Decision'];
export type LogPage = Schemas['LogPage'];
export type TrustWhy = NonNullable<TrustPoint['why']>;
export type TrustPoint = Schemas['TrustPoint'];
export type TrustLine = Schemas['TrustLine'];
export type TrustReport = Schemas['TrustReport'];
export type GateRule = Schemas['GateRule'];
export type PastCall = Schemas['PastCall'];
export type RulePreview = Schemas['RulePreview'];
export type Proposal = Schemas['Proposal'];

// Plans.
export type PlanStatus = PlanView['status'];
/** How a plan stands, as people are told it. */
export type PlanOutcome = PlanStatus | 'sent_back';
export type PlanAction = PlanAnswer['action'];
export type Task = Schemas['Task'];
export type TaskSummary = Schemas['TaskSummary'];
export type TasksSummary = Schemas['TasksSummary'];
export type Tried = Schemas['Tried'];
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
export type ChangeKind = TaskChange['change'];
export type TaskField = FieldChange['field'];
export type FieldChange = Schemas['FieldChange'];
export type TaskChange = Schemas['TaskChange'];
export type PlanAnswer = Schemas['PlanAnswer'];
export type Vote = Schemas['Vote'];
export type PlanRunState = PlanRun['state'];
export type TaskState = TaskRun['state'];
export type OrderKind = Order['order'];
export type TaskRun = Schemas['TaskRun'];
export type Order = Schemas['Order'];
export type GivenOrder = Schemas['GivenOrder'];
export type PlanRun = Schemas['PlanRun'];
export type TaskProgress = Schemas['TaskProgress'];
export type PlanResponse = Schemas['Response'];
export type GivenResponse = Schemas['GivenResponse'];
export type VoteView = Schemas['VoteView'];
export type PlanView = Schemas['Status'];
export type Preset = Schemas['Preset'];
export type PlanOutcomes = Schemas['Outcomes'];
export type UsualChange = Schemas['UsualChange'];
export type PastPlan = Schemas['Past'];
export type PlanHistory = Schemas['History'];
export type ToolDuration = Schemas['ToolDuration'];
export type PlanStatistics = Schemas['Statistics'];

// Runs of the reference agent.
export type AgentState = AgentRun['state'];
export type RunSpent = Schemas['Spent'];
export type RunLimits = Schemas['Limits'];
export type AgentRun = Schemas['RunView'];
export type RunEnding = NonNullable<AgentRun['ending']>;
export type RunTask = Schemas['RunTask'];
export type DeclaredAgent = Schemas['Profile'];
export type AgentAnswer = Schemas['AgentAnswer'];
export type RunPlan = Schemas['Confirmation'];
export type UpdateType = RunUpdate['type'];
export type RunOutcome = NonNullable<RunUpdate['outcome']>;
export type RunUpdate = Schemas['Update'];
export type RunUpdates = Schemas['RunUpdates'];

// Changes to review.
export type CodeChange = Schemas['CodeChange'];

// Proof of presence.
export type ProofNeeded = Schemas['Needed'];
export type ProofMeans = ProofNeeded['means'][number];
export type SystemCheck = NonNullable<ProofNeeded['system_check']>;
export type ProofClaim = Schemas['Claim'];
export type ProofRequirements = Schemas['Requirements'];
export type PasskeyJSON = NonNullable<ProofClaim['assertion']>;
export type Passkey = Schemas['Passkey'];
export type StepUp = Schemas['Overview'];

// Terminals.
export type TerminalState = Schemas['TerminalState'];
export type TerminalCommand = Schemas['TerminalCommand'];
export type TerminalSuggestion = Schemas['TerminalSuggestion'];
export type TerminalEvent = Schemas['TerminalEvent'];
