import { getContext, setContext } from 'svelte';
import { Api } from '../backend/api';
import { Pictures } from '../backend/pictures';
import { may, type Call } from '../backend/rights';
import { keepOverReload, type Session } from '../backend/session';
import { LiveChannel } from '../backend/socket';
import { backoff } from '../lib/backoff';
import { isEmpty } from '../lib/answer';
import { ended, rings } from '../lib/life';
import type { DataState, Operation, DeskState, StoppedRun } from '../lib/wire';
import { Answering } from './answering.svelte';
import { Attempts } from './attempts.svelte';
import { Commands } from './commands.svelte';
import { Dialogs } from './dialogs.svelte';
import { Draft } from './draft.svelte';
import { Findings } from './findings.svelte';
import { Gatekeeper } from './gatekeeper.svelte';
import { Inbox } from './inbox.svelte';
import { Deliveries } from './deliveries';
import { Proving } from './proving.svelte';
import { Presence } from './presence.svelte';
import { Operations } from './operations.svelte';
import { Recorder } from './recorder.svelte';
import { needs, Route, type Page } from './route.svelte';
import { SentAnswers } from './sent.svelte';
import { Sample } from './sample.svelte';
import { SignIns } from './signins.svelte';
import { SummarizerRegistry } from './summarizers.svelte';
import { ticker } from './ticker.svelte';
import { Unsent } from './unsent.svelte';
import { SavedViews } from './views.svelte';

/** Everything a signed-in page works with. */
export class AppState {
  readonly api: Api;
  readonly operator: string;
  readonly operations: Operations;
  readonly answering: Answering;
  readonly sent: SentAnswers;
  readonly deliveries: Deliveries;
  readonly route = new Route();
  readonly unsent = new Unsent();
  readonly commands = new Commands();
  readonly dialogs = new Dialogs();
  readonly signIns = new SignIns();
  readonly proving = new Proving();
  readonly presence: Presence;
  readonly inbox: Inbox;
  readonly sample: Sample;
  readonly recorder: Recorder;
  readonly pictures: Pictures;
  readonly summarizers: SummarizerRegistry;
  readonly gatekeeper: Gatekeeper;
  readonly attempts: Attempts;
  readonly views: SavedViews;
  /** False from one second after the line broke until it is back. */
  connected = $state(true);
  loadFailed = $state(false);
  /** The server knows this session no more: it was started anew. What is typed here is still here. */
  expired = $state(false);
  /** How the data stands; undefined until the server says it. */
  data = $state.raw<DataState>();
  /** The runs of procedures that wait for this operator, as the server said last. */
  #stops = $state.raw<readonly StoppedRun[]>([]);
  /** How this desk stands with its team; undefined until the server says it. */
  team = $state.raw<DeskState>();
  /** The operator, where this desk is in a team; else ''. */
  readonly member = $derived.by<string>(() => (this.team?.team && !this.team.restart && !this.team.left ? this.operator : ''));
  #drafts = new Map<string, Draft>();
  #findings = new Map<string, Findings>();
  #live: LiveChannel;
  #broken: ReturnType<typeof setTimeout> | undefined;

  readonly ringing = $derived.by<Operation[]>(() => [...this.operations.all.values()].filter((op) => rings(op, this.operations.moment, this.member)));
  /** The runs of procedures that have stopped and wait for this operator. */
  readonly stopped = $derived.by<StoppedRun[]>(() => this.#stops.filter(({ operation_id }) => {
    const op = this.operations.all.get(operation_id);
    return !!op && !ended(op);
  }));
  readonly open = $derived.by<Operation | undefined>(() => (this.route.page === 'recordings' ? undefined : this.operations.all.get(this.route.id)));

  constructor(readonly session: Session) {
    session.prove = this.proving.ask;
    this.api = new Api(session);
    this.presence = new Presence(this.api, !!session.calls);
    this.operator = session.operator;
    this.operations = new Operations(this.api);
    this.answering = new Answering(this.api, this.operations);
    this.inbox = new Inbox(this.api, this.operations, this.route, () => this.member);
    this.sent = new SentAnswers(this);
    this.answering.answered = (op) => this.sent.add(op);
    this.sample = new Sample(this.api);
    this.deliveries = new Deliveries(this.api, (id) => this.operations.all.get(id));
    this.recorder = new Recorder(this.api, this.answering);
    this.pictures = new Pictures(session);
    this.summarizers = new SummarizerRegistry(this.api);
    this.gatekeeper = new Gatekeeper(this.api);
    this.attempts = new Attempts(this.api);
    this.views = new SavedViews(this.api, this.route, this.may('GET /api/views'));
    this.#live = new LiveChannel(session, {
      hello: (_seq, fresh) => {
        if (fresh) void this.#load();
        // What is said of recordings is not said again after a break.
        if (this.may('GET /api/recorder')) void this.recorder.load();
        void this.attempts.load();
        void this.views.load();
        for (const findings of this.#findings.values()) if (findings.loaded) void findings.load();
      },
      message: (message) => {
        this.operations.hear(message);
        this.recorder.hear(message);
        this.attempts.hear(message);
        this.signIns.hear(message);
        if (message.type === 'stopped_runs') this.#stops = message.runs ?? [];
        if (message.type === 'data') this.data = message.data;
        if (message.type === 'team') {
          this.team = message.team;
          // What the team has is frozen from then on.
          if (message.team.left) void this.#load();
        }
        if (message.type === 'summary') this.#findings.get(message.summary.operation_id)?.hear(message.summary);
      },
      connected: (yes) => this.#line(yes),
      welcome: async () => {
        this.expired = !(await this.api.welcome());
        return !this.expired;
      },
    });
  }

  /** Whether this session may make a call: a phone's makes few. */
  may(call: Call): boolean {
    return may(this.session, call);
  }

  /** Whether there is a use for a page: its calls may be made, and what it shows exists. */
  offers(page: Page): boolean {
    return this.may(needs[page]) && (page !== 'team' || !!this.member);
  }

  /** Whether a setting is on, now. Where it cannot be read, as on a phone, it is. */
  async wants(key: string): Promise<boolean> {
    if (!this.may('GET /api/settings')) return true;
    const all = await this.api.settings().catch(() => undefined);
    return all?.settings.find((setting) => setting.key === key)?.value !== false;
  }

  /** What the run of an operation has stopped at. */
  stopOf(id: string): StoppedRun | undefined {
    return this.stopped.find(({ operation_id }) => operation_id === id);
  }

  /** Starts the clock, the live channel and the address. Returns the stop. */
  start(): () => void {
    keepOverReload(this.session);
    const undo = [ticker.start(), this.route.start()];
    const leave = (): void => this.flush();
    window.addEventListener('pagehide', leave);
    this.#live.start();
    return () => {
      window.removeEventListener('pagehide', leave);
      this.#live.stop();
      for (const off of undo) off();
    };
  }

  /** Goes on with a new session of the same operator. */
  renew(session: Session): void {
    Object.assign(this.session, session);
    this.expired = false;
    this.#live.start();
    for (const draft of this.#drafts.values()) void draft.save();
  }

  /** The draft of an operation, made when first asked for and the same ever after. */
  draft(op: Operation): Draft {
    let draft = this.#drafts.get(op.operation_id);
    if (!draft) {
      draft = new Draft(this.api, this.operator, op);
      this.#drafts.set(op.operation_id, draft);
    }
    return draft;
  }

  /** The findings of an operation, made when first asked for: what is being written stays wherever one goes. */
  findings(op: Operation): Findings {
    let findings = this.#findings.get(op.operation_id);
    if (!findings) {
      findings = new Findings(this, op.operation_id, this.draft(op));
      this.#findings.set(op.operation_id, findings);
    }
    return findings;
  }

  /** Whether something is written and not sent for an operation, here or saved by this operator. */
  hasDraft(op: Operation): boolean {
    const here = this.#drafts.get(op.operation_id);
    return here ? !isEmpty(here.form) && here.state !== 'none' : op.draft?.by.name === this.operator;
  }

  /** Saves whatever is unsaved, now. */
  flush(): void {
    for (const draft of this.#drafts.values()) void draft.save(true);
  }

  /** Reads everything, however often it takes: without it there is no inbox. */
  async #load(attempt = 0): Promise<void> {
    try {
      await this.operations.load();
      this.loadFailed = false;
    } catch {
      this.loadFailed = true;
      setTimeout(() => void this.#load(attempt + 1), backoff(attempt, Math.random()));
    }
  }

  #line(yes: boolean): void {
    clearTimeout(this.#broken);
    if (yes) this.connected = true;
    else this.#broken = setTimeout(() => (this.connected = false), 1000);
  }
}

const key = Symbol('app');

export const provideApp = (app: AppState): AppState => setContext(key, app);
export const useApp = (): AppState => getContext(key);
