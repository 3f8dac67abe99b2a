import type {
  Action, Agent, Answer, Backup, Because, Check, Consent, Difference, DraftRequest, Drafts, Edits, Effect, FieldSource, Finding, GateChoice, GateInput, Known, Operation, PermissionAnswer,
  PickRequest, ProjectInfo, QuestionView, RecordedEvent, Recording, RecordingOptions, Ref, ReplayState, Restored, Result, Setting, Showing, SourceState, Suggestion, Summarizers, Summary, TimelineEvent, Trial, Verdict,
} from '../lib/wire';
import type { GateDecision, GateRule, GateState, LogPage, Proposal, RulePreview, TrustReport } from '../lib/gatewire';
import type { GivenOrder, PlanAnswer, PlanRun, TaskChange, TaskProgress, TaskRun, Vote } from '../lib/planwire';
import type { AgentRun, RunPlan, RunUpdate } from '../lib/runs';
import type { components } from './schema';

/**
 * Holds the nouns of lib/wire.ts to the API's own description (schema.d.ts, generated): a field that the API drops,
 * renames or makes optional fails the type check here. `Free` names fields of free-form JSON, which the description
 * leaves open.
 */
type Described = components['schemas'];
type Unknown<Wire, Api> = Exclude<keyof Wire, keyof Api>;
type Fits<Wire, Api, Free extends keyof Wire = never> = [Unknown<Wire, Api>] extends [never]
  ? Omit<Api, Free> extends Omit<Wire, Free> ? true : 'a field differs'
  : Unknown<Wire, Api>;
type Holds<T extends true> = T;

export type Contract = [
  Holds<Fits<Operation, Described['Operation'], 'details' | 'context' | 'result' | 'draft' | 'votes' | 'run'>>,
  Holds<Fits<Agent, Described['Agent']>>,
  Holds<Fits<Check, Described['Check']>>,
  Holds<Fits<TimelineEvent, Described['Event'], 'data'>>,
  Holds<Fits<TimelineEvent['data'], Described['EventData'], 'answer' | 'order'>>,
  Holds<Fits<Recording, Described['Recording']>>,
  Holds<Fits<SourceState, Described['SourceState']>>,
  Holds<Fits<Action, Described['Action']>>,
  Holds<Fits<Suggestion, Described['Suggestion']>>,
  Holds<Fits<Edits, Described['Edits']>>,
  Holds<Fits<ReplayState, Described['ReplayState']>>,
  Holds<Fits<RecordedEvent, Described['RecordedEvent'], 'dom'>>,
  Holds<Fits<RecordingOptions, Described['RecordingOptions']>>,
  Holds<Fits<PickRequest, Described['PickRequest']>>,
  Holds<Fits<FieldSource, Described['FieldSource']>>,
  Holds<Fits<Pick<Answer, 'field_sources'>, Pick<Described['Result'], 'field_sources'>>>,
  Holds<Fits<Ref, Described['Ref']>>,
  Holds<Fits<Finding, Described['Finding']>>,
  Holds<Fits<Summary, Described['Summary']>>,
  Holds<Fits<Drafts, Described['Drafts']>>,
  Holds<Fits<DraftRequest, Described['DraftRequest']>>,
  Holds<Fits<Showing, Described['Showing']>>,
  Holds<Fits<Known, Described['Known']>>,
  Holds<Fits<Consent, Described['Consent']>>,
  Holds<Fits<Summarizers, Described['Summarizers']>>,
  Holds<Fits<Result, Described['Result'], 'args' | 'plan'>>,
  Holds<Fits<Backup, Described['Backup']>>,
  Holds<Fits<Restored, Described['Restored']>>,
  Holds<Fits<Effect, Described['Effect']>>,
  Holds<Fits<GateChoice, Described['Choice']>>,
  Holds<Fits<GateInput, Described['Input']>>,
  Holds<Fits<Because, Described['Because']>>,
  Holds<Fits<Verdict, Described['Verdict']>>,
  Holds<Fits<ProjectInfo, Described['ProjectInfo']>>,
  Holds<Fits<QuestionView, Described['QuestionView'], 'args' | 'schema'>>,
  Holds<Fits<PermissionAnswer, Described['AnswerRequest'], 'args'>>,
  Holds<Fits<Difference, Described['Difference']>>,
  Holds<Fits<Trial, Described['Trial']>>,
  Holds<Fits<Setting, Described['Setting'], 'value' | 'default'>>,
  Holds<Fits<GateState, Described['State']>>,
  Holds<Fits<GateDecision, Described['Decision'], 'args'>>,
  Holds<Fits<LogPage, Described['LogPage'], 'decisions'>>,
  Holds<Fits<TrustReport, Described['TrustReport']>>,
  Holds<Fits<GateRule, Described['GateRule']>>,
  Holds<Fits<RulePreview, Described['RulePreview']>>,
  Holds<Fits<Proposal, Described['Proposal']>>,
  Holds<Fits<PlanAnswer, Described['PlanAnswer'], 'tasks'>>,
  Holds<Fits<TaskChange, Described['TaskChange']>>,
  Holds<Fits<Vote, Described['Vote'], 'answer'>>,
  Holds<Fits<PlanRun, Described['PlanRun'], 'tasks' | 'orders'>>,
  Holds<Fits<TaskRun, Described['TaskRun'], 'args'>>,
  Holds<Fits<GivenOrder, Described['GivenOrder'], 'tasks'>>,
  Holds<Fits<TaskProgress, Described['TaskProgress']>>,
  Holds<Fits<AgentRun, Described['RunView']>>,
  Holds<Fits<RunUpdate, Described['Update'], 'plan'>>,
  Holds<Fits<RunPlan, Described['Confirmation'], 'tasks' | 'tasks_summary'>>,
];
