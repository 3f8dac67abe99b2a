import { GateApi } from './gate';
import { PlansApi } from './plans';
import { ChatsApi, RunsApi } from './runs';
import { call, fetchBytes, Problem, search, type Connection } from './http';
import { shell } from './shell';
import type { PlanOutcome } from '../lib/planwire';
import type { Counted } from '../lib/statistics';
import type {
  Action, Agent, Answer, Attempt, AttentionReport, Capturable, CaptureRequest, Chain, Check, CodeChange, DataState, DraftRequest, Drafts, EditedView, Edits, ExportOffer, HistoryStatistics, HitList, Json, Kind, Operation, PickRequest, Receipt, RecordedEvent, Recording, RecordingOptions, Removal, ReplayState, ServerKey, SettingList, SettingValue, Showing, Sink, SourceState, State, Suggestion, Summarizers, Summary, DeskState, LeftTeam, RecordingHolder, MemberChange, TeamBoard, TeamInvitation, TeamMembers, TeamRules, TimelineEvent, Verification, View,
} from '../lib/wire';

export interface Query extends Omit<Counted, 'action_type'> {
  state?: State | 'open' | 'closed' | '';
  action_type?: Kind | '';
  plan_status?: PlanOutcome | '';
  agent_id?: string;
  q?: string;
  limit?: number;
  cursor?: string;
  order?: 'urgent' | 'newest' | 'recent';
}

export interface Page {
  operations: Operation[];
  next?: string;
}

const summariesOf = (id: string, what = ''): string => `/api/human/operations/${encodeURIComponent(id)}/summaries${what}`;
const rulesOfTeam = '/api/team/rules';
const memberOf = (name: string): string => `/api/team/members/${encodeURIComponent(name)}`;
const keysOfReceipts = '/api/receipts/keys';
const chainOf = (id: string): string => `/api/human/operations/${encodeURIComponent(id)}/chain`;
const receiptsOf = (id: string): string => `/api/human/operations/${encodeURIComponent(id)}/receipts`;
const ofHolder = (operation: string, id: string): string => `/api/human/operations/${encodeURIComponent(operation)}/recordings/${encodeURIComponent(id)}/ask`;
const ofRecording = (id: string, what = ''): string => `/api/recordings/${encodeURIComponent(id)}${what}`;

/** Every call the console makes, by name. Each throws a Problem and nothing else. */
export class Api {
  readonly gate: GateApi;
  readonly plans: PlansApi;
  readonly runs: RunsApi;
  readonly chats: ChatsApi;

  constructor(readonly to: Connection) {
    this.gate = new GateApi(to);
    this.plans = new PlansApi(to);
    this.runs = new RunsApi(to);
    this.chats = new ChatsApi(to);
  }

  /** Whether the server knows this session. It is taken to, as long as it does not say otherwise. */
  async welcome(): Promise<boolean> {
    try {
      await this.operations({ limit: 1 });
      return true;
    } catch (error) {
      return !(error instanceof Problem && error.unauthorized);
    }
  }

  operations(query: Query): Promise<Page> {
    return this.#get('/api/human/operations' + search(query));
  }

  statistics(query: Counted & { days: number }): Promise<HistoryStatistics> {
    return this.#get('/api/statistics' + search(query));
  }

  attention(query: { days: number; zone: string }): Promise<AttentionReport> {
    return this.#get('/api/attention' + search(query));
  }

  /** Saves all operations of a list as a file, and returns its name. */
  exportOperations(query: Query, format: 'jsonl' | 'csv'): Promise<string> {
    const path = '/api/human/export' + search({ ...query, format });
    return shell.save(`deskbell-history.${format}`, path, () => fetchBytes(this.to, path));
  }

  operation(id: string): Promise<Operation> {
    return this.#get(`/api/human/operations/${encodeURIComponent(id)}`);
  }

  /** What has all words of a text, by group; of each at most `limit`. */
  async find(q: string, limit: number, group = ''): Promise<HitList[]> {
    return (await this.#get<{ groups: HitList[] | null }>('/api/search' + search({ q, limit, group }))).groups ?? [];
  }

  async events(id: string): Promise<TimelineEvent[]> {
    return (await this.#get<{ events: TimelineEvent[] | null }>(`/api/human/operations/${encodeURIComponent(id)}/events`)).events ?? [];
  }

  /** The change that a review names in a repository, as it is now. */
  change(id: string): Promise<CodeChange> {
    return this.#get(`/api/human/operations/${encodeURIComponent(id)}/change`);
  }

  /** The text of a file before that change, by its id in the diff. */
  async changeText(id: string, blob: string): Promise<string> {
    return (await this.#get<{ text: string }>(`/api/human/operations/${encodeURIComponent(id)}/change/${blob}`)).text;
  }

  claim(id: string): Promise<Operation> {
    return this.#post('/api/human/claim', { operation_id: id });
  }

  release(id: string): Promise<Operation> {
    return this.#post('/api/human/release', { operation_id: id });
  }

  /** Declines. Like an answer it may be leaving, and can be undone then. */
  decline(id: string, reason: string): Promise<Operation> {
    return this.#post('/api/human/decline', { operation_id: id, reason, undoable: true });
  }

  /** Saves a draft; an empty answer forgets it. With `leaving` the call outlives the page. */
  input(id: string, answer: Answer, leaving = false): Promise<Operation> {
    return call(this.to, 'POST', '/api/human/input', { operation_id: id, ...answer }, leaving);
  }

  /** Answers. What came back may have the answer as leaving: then it can be undone for a moment. */
  complete(id: string, digest: string, answer: Answer): Promise<Operation> {
    return this.#post('/api/human/complete', { operation_id: id, digest, undoable: true, ...answer });
  }

  /** Undoes an answer that has not left: it is a draft again; or a decline. @throws Problem with `conflict` once it has. */
  undo(id: string): Promise<Operation> {
    return this.#post('/api/human/undo', { operation_id: id });
  }

  /** What an approval would be with edited arguments: what it is bound to then, and its risk. */
  editCall(id: string, args: Record<string, Json>): Promise<EditedView> {
    return this.#post('/api/human/edited', { operation_id: id, args });
  }

  reply(id: string, text: string): Promise<Operation> {
    return this.#post('/api/human/reply', { operation_id: id, text });
  }

  /** A message after the end; the agent gets it at its next contact. */
  comment(id: string, text: string): Promise<Operation> {
    return this.#post('/api/human/comment', { operation_id: id, text });
  }

  snooze(id: string, until: string | null): Promise<Operation> {
    return this.#post('/api/human/snooze', { operation_id: id, until });
  }

  shown(id: string, channel: string, failed = ''): Promise<void> {
    return this.#post('/api/human/shown', { operation_id: id, channel, ...(failed && { failed }) });
  }

  seen(id: string, channel: string): Promise<void> {
    return this.#post('/api/human/seen', { operation_id: id, channel });
  }

  async agents(): Promise<Agent[]> {
    return (await this.#get<{ agents: Agent[] | null }>('/api/agents')).agents ?? [];
  }

  /** Makes a key for an agent. The answer is the only time the key is shown. */
  async addAgent(name: string): Promise<string> {
    return (await this.#post<{ key: string }>('/api/agents', { name })).key;
  }

  revokeAgent(name: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/agents/${encodeURIComponent(name)}`);
  }

  /** What agents tried that only a person may do, the newest first; with `all` what was dismissed, too. */
  async attempts(all = false): Promise<Attempt[]> {
    return (await this.#get<{ attempts: Attempt[] | null }>('/api/attempts' + search({ all: all || undefined }))).attempts ?? [];
  }

  dismissAttempt(id: string): Promise<void> {
    return this.#post(`/api/attempts/${encodeURIComponent(id)}/dismiss`, {});
  }

  settings(): Promise<SettingList> {
    return this.#get('/api/settings');
  }

  setting(key: string, value: SettingValue): Promise<SettingList> {
    return call(this.to, 'PUT', '/api/settings', { [key]: value });
  }

  async doctor(): Promise<Check[]> {
    return (await this.#get<{ checks: Check[] | null }>('/api/doctor')).checks ?? [];
  }

  /** A code that signs another browser in, once: as this operator, or as another of that name. */
  code(operator = ''): Promise<{ code: string; console: string }> {
    return this.#post('/api/session/codes' + search({ operator }), {});
  }

  /** Starts the sample agent, which rings once. */
  sample(): Promise<void> {
    return this.#post('/api/sample', {});
  }

  /** What the recorder can record here, and what it records now. */
  async recorder(): Promise<{ sources: SourceState[]; current: Recording | null }> {
    const state = await this.#get<{ sources: SourceState[] | null; current: Recording | null }>('/api/recorder');
    return { sources: state.sources ?? [], current: state.current };
  }

  record(operation: string, options: RecordingOptions): Promise<Recording> {
    return this.#post('/api/recordings', { operation_id: operation, options });
  }

  pauseRecording(id: string): Promise<Recording> {
    return this.#post(ofRecording(id, '/pause'), {});
  }

  resumeRecording(id: string): Promise<Recording> {
    return this.#post(ofRecording(id, '/resume'), {});
  }

  stopRecording(id: string): Promise<Recording> {
    return this.#post(ofRecording(id, '/stop'), {});
  }

  /** Throws away a recording that runs, with all that belongs to it. */
  discardRecording(id: string): Promise<void> {
    return this.#post(ofRecording(id, '/discard'), {});
  }

  /** Notes this moment, or that a step of the checklist was ticked or unticked. */
  markRecording(id: string, note: { text?: string; step?: number; done?: boolean }): Promise<Recording> {
    return this.#post(ofRecording(id, '/mark'), note);
  }

  /** The page waits for the operator to point at something for a field; with no field it waits no more. */
  pick(id: string, pick: PickRequest): Promise<void> {
    return this.#post(ofRecording(id, '/pick'), pick);
  }

  /** Brings the browser that is recorded to the front. */
  showBrowser(id: string): Promise<void> {
    return this.#post(ofRecording(id, '/show'), {});
  }

  /** Ends the shell of an operation, and completes its recording. */
  endTerminal(operation: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/operations/${encodeURIComponent(operation)}/terminal`);
  }

  async recordings(query: { operation_id?: string; limit?: number; cursor?: string }): Promise<{ recordings: Recording[]; next?: string }> {
    const page = await this.#get<{ recordings: Recording[] | null; next?: string }>('/api/recordings' + search(query));
    return { recordings: page.recordings ?? [], next: page.next };
  }

  recording(id: string): Promise<Recording> {
    return this.#get(ofRecording(id));
  }

  deleteRecording(id: string): Promise<void> {
    return call(this.to, 'DELETE', ofRecording(id));
  }

  /** What was done, in words of a language; all of it, or only what came after an action. */
  async actions(id: string, language: string, after = ''): Promise<{ actions: Action[]; suggestions: Suggestion[] }> {
    const answer = await this.#get<{ actions: Action[] | null; suggestions: Suggestion[] | null }>(ofRecording(id, '/actions') + search({ language, after }));
    return { actions: answer.actions ?? [], suggestions: answer.suggestions ?? [] };
  }

  /** Raw events with a seq greater than `after`. Without `next` there are no more for now. */
  async recordedEvents(id: string, after: number, limit: number): Promise<{ events: RecordedEvent[]; next?: number }> {
    const page = await this.#get<{ events: RecordedEvent[] | null; next?: number }>(ofRecording(id, '/events') + search({ after, limit }));
    return { events: page.events ?? [], next: page.next };
  }

  async edits(id: string): Promise<Edits> {
    return wholeEdits(await this.#get(ofRecording(id, '/edits')));
  }

  /** Saves edits. @throws Problem with `conflict` when somebody else changed them since. */
  async saveEdits(id: string, edits: Edits): Promise<Edits> {
    return wholeEdits(await call(this.to, 'PUT', ofRecording(id, '/edits'), edits));
  }

  /** What can be captured of the desktop of the machine that the server runs on. */
  capturable(): Promise<Capturable> {
    return this.#get('/api/captures');
  }

  /** A picture of it, as a PNG. */
  async capture(what: CaptureRequest): Promise<Blob> {
    return (await fetchBytes(this.to, '/api/captures', what)).bytes;
  }

  /** The formats that a recording can be exported in, with what each cannot say of it. */
  async exports(id: string): Promise<ExportOffer[]> {
    return (await this.#get<{ formats: ExportOffer[] }>(ofRecording(id, '/exports'))).formats;
  }

  /** Saves an export as a file. Returns its name, or '' when the operator thought better of it. */
  exportRecording(id: string, format: string, file: string, language: string): Promise<string> {
    const path = ofRecording(id, '/export') + search({ format, language });
    return shell.save(file, path, () => fetchBytes(this.to, path));
  }

  /** The receipts of an operation's answers, oldest first. */
  async receipts(id: string): Promise<Receipt[]> {
    return (await this.#get<{ receipts: Receipt[] }>(receiptsOf(id))).receipts;
  }

  /** Checks a receipt against the server's keys. */
  verify(receipt: Receipt): Promise<Verification> {
    return this.#post('/api/receipts/verify', { receipt });
  }

  /** The place of an operation's last receipt among all, and whether they are as they were written. */
  chain(id: string): Promise<Chain> {
    return this.#get(chainOf(id));
  }

  /** The public keys that sign receipts, the newest last. */
  async receiptKeys(): Promise<ServerKey[]> {
    return (await this.#get<{ keys: ServerKey[] }>(keysOfReceipts)).keys;
  }

  /** Signs receipts with a new key from now on. */
  newReceiptKey(): Promise<ServerKey> {
    return call(this.to, 'POST', keysOfReceipts);
  }

  saveReceiptKeys(name: string): Promise<string> {
    return shell.save(name, keysOfReceipts, () => fetchBytes(this.to, keysOfReceipts));
  }

  /** Saves what was found in the chain around an operation's receipt, and what shows it. */
  saveChainReport(id: string, name: string): Promise<string> {
    const path = `${chainOf(id)}/report`;
    return shell.save(name, path, () => fetchBytes(this.to, path));
  }

  saveReceipts(id: string, name: string): Promise<string> {
    return shell.save(name, receiptsOf(id), () => fetchBytes(this.to, receiptsOf(id)));
  }

  replay(id: string, speed: number): Promise<ReplayState> {
    return this.#post(ofRecording(id, '/replay'), { speed });
  }

  replayState(id: string): Promise<ReplayState> {
    return this.#get(ofRecording(id, '/replay'));
  }

  stopReplay(id: string): Promise<ReplayState> {
    return call(this.to, 'DELETE', ofRecording(id, '/replay'));
  }

  /** Filters of lists that are kept under a name. */
  async views(): Promise<View[]> {
    return (await this.#get<{ views: View[] | null }>('/api/views')).views ?? [];
  }

  /** Keeps a view: a new one without an id, else in the place of the one with its id. */
  putView(view: View): Promise<View> {
    return this.#post('/api/views', view);
  }

  deleteView(id: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/views/${encodeURIComponent(id)}`);
  }

  /** What can write summaries, and what may be sent to models. */
  async sinks(): Promise<Sink[]> {
    return (await this.#get<{ sinks: Sink[] | null }>('/api/sinks')).sinks ?? [];
  }

  /** Delivers a sample to one of them, now. */
  testSink(name: Sink['name']): Promise<void> {
    return this.#post(`/api/sinks/${name}/test`, {});
  }

  /** Deletes operations that ended, with all that belongs to them; everywhere means on all desks of the team. */
  deleteOperations(operations: string[], everywhere: boolean): Promise<void> {
    return this.#post('/api/human/delete', { operations, everywhere });
  }

  /** What retention would remove now; with run it removes it, and this is what that was. */
  retention(run: boolean): Promise<Removal> {
    return run ? this.#post('/api/retention/run', {}) : this.#get('/api/retention/preview');
  }

  /** Notes that the operator read what is missing in the data. */
  noteLosses(): Promise<DataState> {
    return this.#post('/api/data/noted', {});
  }

  /** How the team and its queue stand; days and weeks begin in that time zone. */
  teamBoard(zone: string): Promise<TeamBoard> {
    return this.#get('/api/team/board' + search({ zone }));
  }

  /** Saves how the team stands as a file of that name and format, and returns its name. */
  exportTeam(file: string, format: 'csv' | 'json', zone: string): Promise<string> {
    const path = (format === 'csv' ? '/api/team/export' : '/api/team/board') + search({ zone });
    const name = `${file}.${format}`;
    return shell.save(name, path, async () => ({ ...(await fetchBytes(this.to, path)), name }));
  }

  /** Who was invited, joined and was removed; for leads also the links that still work. */
  teamMembers(): Promise<TeamMembers> {
    return this.#get('/api/team/members');
  }

  /** Makes a one-time link by which a desk joins. One of your own has your role. */
  inviteToTeam(member: string, role: TeamInvitation['role'] | ''): Promise<TeamInvitation> {
    return this.#post('/api/team/invitations', { member, role });
  }

  /** Disconnects all desks of a member for ever, and makes their links useless. */
  removeFromTeam(name: string): Promise<void> {
    return call(this.to, 'DELETE', memberOf(name));
  }

  /** Changes what the team knows of a member; what is not given stays. */
  async setTeamMember(name: string, change: MemberChange): Promise<void> {
    await call(this.to, 'PUT', memberOf(name), change);
  }

  teamRules(): Promise<TeamRules> {
    return this.#get(rulesOfTeam);
  }

  /** Replaces the team's rules, where their revision is still the latest. */
  setTeamRules(rules: TeamRules): Promise<TeamRules> {
    return call(this.to, 'PUT', rulesOfTeam, rules);
  }

  /** Hands an operation over to another operator. */
  handOver(id: string, to: string, note: string): Promise<Operation> {
    return this.#post(`/api/operations/${encodeURIComponent(id)}/handover`, { to, note });
  }

  /** On whose desk a recording of an operation is that is not here; 404 where it is on no other. */
  recordingHolder(operation: string, id: string): Promise<RecordingHolder> {
    return this.#get(ofHolder(operation, id));
  }

  /** Asks them for it. */
  askForRecording(operation: string, id: string, reason: string): Promise<RecordingHolder> {
    return this.#post(ofHolder(operation, id), { reason });
  }

  /** Makes this a desk of the team that a one-time link is for, from the next start on. */
  joinTeam(link: string): Promise<DeskState> {
    return this.#post('/api/team/join', { link });
  }

  /** Ends that. Offline says that this desk leaves although it is not connected. */
  discardLater(id: string): Promise<DeskState> {
    return call(this.to, 'DELETE', `/api/team/later/${encodeURIComponent(id)}`);
  }

  leaveTeam(offline: boolean): Promise<LeftTeam> {
    return this.#post('/api/team/leave', { offline, cancel: true });
  }

  async summarizers(): Promise<Summarizers> {
    const all = await this.#get<{ [K in keyof Summarizers]: Summarizers[K] | null }>('/api/summarizers');
    return { summarizers: all.summarizers ?? [], problems: all.problems ?? [], consents: all.consents ?? [], folder: all.folder ?? '' };
  }

  /** Takes back a word that something may be sent to a model. */
  forgetConsent(id: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/summarizers/consents/${encodeURIComponent(id)}`);
  }

  /** The drafts of an operation; those that are due are begun. */
  async drafts(id: string): Promise<Drafts> {
    const all = await this.#get<Pick<Drafts, 'language'> & { [K in keyof Drafts]: Drafts[K] | null }>(summariesOf(id));
    return { language: all.language, summaries: all.summaries ?? [], chosen: all.chosen ?? [], fitting: all.fitting ?? [], stale: all.stale ?? [] };
  }

  /** Begins a draft and answers at once. */
  startDraft(id: string, request: DraftRequest): Promise<Summary> {
    return this.#post(summariesOf(id), request);
  }

  stopDraft(id: string, summary: string): Promise<Summary> {
    return this.#post(summariesOf(id, `/${encodeURIComponent(summary)}/stop`), {});
  }

  /** What would be sent to another machine, to the letter. Nothing is. */
  previewDraft(id: string, summarizer: string): Promise<Showing> {
    return this.#get(summariesOf(id, '/preview') + search({ with: summarizer }));
  }

  #get<T>(path: string): Promise<T> {
    return call(this.to, 'GET', path);
  }

  #post<T>(path: string, body: unknown): Promise<T> {
    return call(this.to, 'POST', path, body);
  }
}

/** Lists that hold nothing may come as null. */
function wholeEdits(edits: { [K in keyof Edits]: Edits[K] | null }): Edits {
  return {
    version: edits.version ?? 0,
    cuts: edits.cuts ?? [],
    masked_texts: edits.masked_texts ?? [],
    masks: edits.masks ?? [],
    words: edits.words ?? {},
    share_text: edits.share_text ?? false,
    share_pictures: edits.share_pictures ?? false,
    pictures_of: edits.pictures_of ?? [],
  };
}
