import { call, search, type Connection } from './http';
import type { GateDecision, GateRule, GateState, LogPage, Policy, Proposal, Ruling, RulePreview, TrustLine, TrustReport } from '../lib/gatewire';
import type { Difference, Operation, PermissionAnswer, QuestionView, Restored, ToolCall, Trial } from '../lib/wire';

export interface LogQuery {
  decision?: Ruling | '';
  project?: string;
  agent_id?: string;
  q?: string;
  since?: string;
  limit?: number;
  cursor?: string;
}

/** The gatekeeper's calls. Each throws a Problem and nothing else; one with `missing` where no gatekeeper runs. */
export class GateApi {
  constructor(private readonly to: Connection) {}

  async state(): Promise<GateState> {
    return wholeState(await call(this.to, 'GET', '/api/gate'));
  }

  /** Writes the policy into gate.toml. */
  async setPolicy(policy: Policy): Promise<GateState> {
    return wholeState(await call(this.to, 'PUT', '/api/gate/policy', { policy }));
  }

  /** What would be decided about a call. Nothing is run, logged or asked. */
  try(trial: ToolCall & { policy?: Policy }): Promise<Trial> {
    return call(this.to, 'POST', '/api/gate/try', trial);
  }

  /** What an operation of kind permission asks. */
  question(id: string): Promise<QuestionView> {
    return call(this.to, 'GET', ofQuestion(id));
  }

  /** What its call would change. */
  difference(id: string): Promise<Difference> {
    return call(this.to, 'GET', ofQuestion(id, '/difference'));
  }

  /** Puts the files that changed back as they were shown before. Returns the question that is asked then. */
  putBack(id: string, digest: string): Promise<Operation> {
    return call(this.to, 'POST', ofQuestion(id, '/put-back'), { digest });
  }

  /** Answers it, after doing what the choice needs: a backup takes its time. */
  answer(id: string, answer: PermissionAnswer): Promise<Operation> {
    return call(this.to, 'POST', ofQuestion(id, '/answer'), answer);
  }

  /** A page of the log, the newest first. */
  async decisions(query: LogQuery): Promise<LogPage> {
    const page = await call<{ decisions: GateDecision[] | null; next?: string }>(this.to, 'GET', '/api/gate/decisions' + search(query));
    return { decisions: (page.decisions ?? []).map((one) => ({ ...one, rule_ids: one.rule_ids ?? [], verbs: one.verbs ?? [] })), next: page.next };
  }

  async trust(project: string, days: number): Promise<TrustReport> {
    const report = await call<TrustReport & { lines: TrustLine[] | null }>(this.to, 'GET', '/api/gate/trust' + search({ project, days }));
    return { ...report, lines: (report.lines ?? []).map((line) => ({ ...line, points: line.points ?? [] })) };
  }

  /** The user's own rules: those of files, and those made in the console. */
  async rules(): Promise<GateRule[]> {
    return (await call<{ rules: GateRule[] | null }>(this.to, 'GET', '/api/gate/rules')).rules ?? [];
  }

  addRule(rule: GateRule): Promise<GateRule> {
    return call(this.to, 'POST', '/api/gate/rules', rule);
  }

  dropRule(id: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/gate/rules/${encodeURIComponent(id)}`);
  }

  /** Which past calls a rule would have matched. Nothing is kept. */
  async previewRule(rule: GateRule): Promise<RulePreview> {
    const preview = await call<RulePreview & { calls: RulePreview['calls'] | null }>(this.to, 'POST', '/api/gate/rules/preview', rule);
    return { ...preview, calls: preview.calls ?? [] };
  }

  /** Rules that the operator's own answers suggest. */
  async proposals(): Promise<Proposal[]> {
    return (await call<{ proposals: Proposal[] | null }>(this.to, 'GET', '/api/gate/proposals')).proposals ?? [];
  }

  /** Never proposes this again. */
  dismissProposal(key: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/gate/proposals/${encodeURIComponent(key)}`);
  }

  /** Restores the files in a backup. It overwrites nothing: a Problem names what is in the way. */
  restore(backup: string): Promise<Restored> {
    return call(this.to, 'POST', `/api/backups/${encodeURIComponent(backup)}/restore`);
  }
}

const ofQuestion = (id: string, what = ''): string => `/api/gate/questions/${encodeURIComponent(id)}${what}`;

/** Lists that hold nothing may come as null. */
function wholeState(state: Omit<GateState, 'projects'> & { projects: string[] | null }): GateState {
  return { ...state, projects: state.projects ?? [] };
}
