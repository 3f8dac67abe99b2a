import { tick } from 'svelte';
import { answerOf, isEmpty, withSources, type AnswerForm } from '../lib/answer';
import { released } from '../lib/findings';
import { ended, forOthers, snoozed } from '../lib/life';
import { loadPart } from '../lib/loading';
import { running } from '../lib/recording';
import { kindOf, type KindDefinition } from '../kinds';
import type { Controller, Offering } from '../kinds/kind';
import type { Answer, Operation, Recording } from '../lib/wire';
import { m } from '../paraglide/messages';
import { Asked } from './asked.svelte';
import { Arming } from './arming.svelte';
import { Attaching } from './attaching.svelte';
import type { Command } from './commands.svelte';
import type { AppState } from './app.svelte';
import type { Draft } from './draft.svelte';
import { OpenRecording } from './recording.svelte';
import { ticker } from './ticker.svelte';
import { appWindow } from './window.svelte';
import { verdicts, type WorkVerdict } from './workverdict';

type Place = 'answer' | 'ask';

/** One operation on the table: its draft, what may be done with it, and the half second before it may. */
export class OpenOperation {
  readonly arming = new Arming();
  readonly draft: Draft;
  /** Files that were attached, or are on their way. */
  readonly attaching: Attaching;
  /** What the request wants filled in. */
  readonly asked: Asked;
  readonly kind: KindDefinition;
  /** Of kinds that are answered by more than a form. */
  readonly controller: Controller | undefined;
  /** What may do the work. Absent until it is asked for by offers(). */
  offering = $state.raw<Offering>();
  /** Why the last try to answer was not even sent: the field that is missing. */
  missing = $state<'' | 'reason' | 'answer' | 'words' | 'edits' | 'checking' | 'blocked'>('');
  /** What stands beside an operation that is recorded, or that the gatekeeper asks about: more of it, or what was said. */
  side = $state<'more' | 'talk'>('more');
  #places = new Map<Place, HTMLElement>();
  #recordings = new Map<string, OpenRecording>();
  readonly #roots: (() => void)[] = [];

  constructor(
    readonly app: AppState,
    readonly id: string,
    op: Operation,
  ) {
    this.draft = app.draft(op);
    this.attaching = new Attaching(app, this.draft, () => this.op?.result?.files ?? this.op?.draft?.files ?? []);
    this.asked = new Asked(this.draft, () => this.op);
    this.kind = kindOf(op);
    this.controller = this.kind.controller?.(this);
    // Whether it can be changed, and what waits, follows from how this desk stands with its team.
    let stands = app.team;
    $effect(() => {
      if (stands && app.team !== stands) app.operations.refresh(id);
      stands = app.team;
    });
  }

  get op(): Operation | undefined {
    return this.app.operations.all.get(this.id);
  }

  /** Open, not somebody else's, nothing and no run under way, and on screen for half a second. */
  readonly ready = $derived.by(() => {
    const op = this.op;
    return !!op && !ended(op) && this.mine && !this.offering?.running && this.arming.armed && !this.app.answering.busy.has(this.id) && this.app.operations.whole.has(this.id);
  });

  /** It can be denied or declined here, and nothing else: a phone's answer would need proof, and nothing is set up that gives it. */
  readonly unproven = $derived.by(() => this.app.presence.lacks(this.op));

  /** Why others have to approve it, and this operator cannot. */
  readonly others = $derived.by(() => (this.op ? forOthers(this.op, this.app.operator, ticker.now) : ''));

  /** It can be denied, declined and handed over, and nothing else: it is the team's, and this desk is offline. */
  readonly away = $derived.by(() => !!this.op?.away);

  /** For one of these reasons it cannot be approved here. */
  readonly barred = $derived.by(() => this.unproven || !!this.others || this.away);

  /** Nobody else has claimed it, or it is everybody's. */
  readonly mine = $derived.by(() => !this.op?.claimed_by || this.op.claimed_by === this.app.operator || !!this.controller?.shared);

  /** Its controller, or that of its run, for the parts of their own kind. @throws for those of another */
  as<C extends Controller>(type: new (opened: OpenOperation) => C): C {
    for (const one of [this.controller, this.offering?.performing]) if (one instanceof type) return one;
    throw new Error(`${this.id} is of another kind`);
  }

  /** Reads, once, what may do the work in place of the operator. */
  async offers(): Promise<void> {
    if (this.offering || !this.kind.offering || !this.app.may('GET /api/operations/{id}/offers')) return;
    const part = await loadPart(this.kind.offering).catch(() => undefined);
    // Without it, the work is done by hand as always.
    if (!part) return;
    this.offering ??= new part.Offering(this);
    await this.offering.load();
  }

  /** Marks the element that gets the keyboard when a command wants a word typed. */
  place(name: Place): (element: HTMLElement) => () => void {
    return (element) => {
      this.#places.set(name, element);
      return () => {
        if (this.#places.get(name) === element) this.#places.delete(name);
      };
    };
  }

  focus(name: Place): void {
    // The conversation may stand behind the recorder.
    if (name === 'ask' && this.side !== 'talk') {
      this.side = 'talk';
      void tick().then(() => this.#places.get(name)?.focus());
    } else this.#places.get(name)?.focus();
  }

  /** The recording of this operation that runs. */
  readonly recording = $derived.by<Recording | null>(() => this.app.recorder.on(this.id));
  /** Those that have ended, the latest last. */
  readonly recorded = $derived.by<Recording[]>(() => (this.op ? this.app.recorder.of(this.op).filter((r) => !running(r)) : []));

  /** One recording with its steps, made when first asked for. */
  recordingOf(id: string): OpenRecording {
    const known = this.#recordings.get(id);
    if (known) return known;
    let open!: OpenRecording;
    // What is derived belongs to the part of the page that asks first, and would stand still once that has gone: here it
    // belongs to nothing but this.
    this.#roots.push($effect.root(() => {
      open = new OpenRecording(this.app, id);
    }));
    this.#recordings.set(id, open);
    return open;
  }

  /** Whether the agent gets a recording as a whole with the answer: only where the operator says so. */
  gives(id: string): boolean {
    return this.draft.form.shared.includes(id);
  }

  give(id: string, yes: boolean): void {
    const rest = this.draft.form.shared.filter((one) => one !== id);
    this.draft.form.shared = yes ? [...rest, id] : rest;
    this.draft.touch();
  }

  /** Work with hands that was recorded is answered with findings. */
  readonly sifts = $derived.by<boolean>(() => {
    return !!this.kind.work && !this.recording && this.recorded.length > 0;
  });

  /** Work on a screen or in a browser is what one records; anything else can be, once somebody began to. */
  get screen(): boolean {
    return this.kind.work === 'screen' || this.kind.work === 'browser';
  }

  /** Stops reading along when the operation is left. */
  close(): void {
    for (const open of this.#recordings.values()) open.close();
    this.controller?.close?.();
    for (const end of this.#roots.splice(0)) end();
    this.#recordings.clear();
  }

  async record(): Promise<void> {
    const op = this.op;
    if (!op || !(await this.app.recorder.start(op, this.app.operator))) return;
    this.side = 'more';
    // What is recorded is the work, not this window; but it stands beside a browser, whose pages fill its fields.
    if (this.kind.work !== 'browser' && this.app.recorder.on(this.id) && appWindow.desktop) await appWindow.recorder();
  }

  /** Stops what is recorded: its terminal, and the recorder. */
  async stop(): Promise<boolean> {
    const { recorder } = this.app;
    if (this.recording?.options.terminal && !(await recorder.endTerminal(this.id))) return false;
    return recorder.current?.operation_id === this.id ? recorder.stop() : true;
  }

  /** Stops the recording and goes on to what was found. */
  async stopAndReview(): Promise<void> {
    if (await this.stop()) this.app.route.go('findings', this.id);
  }

  /** Sets how the work ended, or takes it back. */
  judge(verdict: WorkVerdict): void {
    const { form } = this.draft;
    form.verdict = form.verdict === verdict ? '' : verdict;
    this.missing = '';
    this.draft.touch();
  }

  /** Whether it may be sent as far as its verdict goes: work by hand has one. */
  get judged(): boolean {
    return !this.kind.work || this.draft.form.verdict !== '';
  }

  /** Sends the answer as it is written; without one it asks for it. */
  async send(): Promise<boolean> {
    const op = this.op;
    if (!op || !this.judged) return false;
    if (['partly', 'could_not'].includes(this.draft.form.verdict) && !this.draft.form.human_input.trim()) {
      this.missing = 'words';
      this.focus('answer');
      return false;
    }
    if (this.attaching.uploads.length) {
      this.missing = this.attaching.busy ? 'checking' : 'blocked';
      return false;
    }
    if (isEmpty(this.draft.form) && this.given.length === 0 && !this.asked.schema) {
      this.missing = 'answer';
      this.focus('answer');
      return false;
    }
    // What was cut and masked must count before the agent may read.
    for (const { recording_id: id } of this.recorded) {
      if (await this.recordingOf(id).save()) continue;
      this.missing = 'edits';
      return false;
    }
    return this.complete(this.answer(op));
  }

  async decline(reason: string): Promise<boolean> {
    const op = this.op;
    if (!op) return false;
    const sent = await this.app.answering.decline(op, reason);
    if (sent) this.draft.sent(!!this.op?.leaving);
    return sent;
  }

  /** What was typed for an answer that came too late, as a message. */
  async addAsMessage(text: string): Promise<boolean> {
    const sent = await this.app.answering.comment(this.id, text);
    if (sent) await this.draft.clear();
    return sent;
  }

  /** The answer as it would leave now. */
  answer(op: Operation): Answer {
    // What the operator left out or hid leaves by no other way either; of a recording that is gone nothing can be shown.
    const written = withSources(this.written, ({ recording_id, action_id }) => {
      const open = this.#recordings.get(recording_id);
      return !op.recordings.includes(recording_id) || (!!open && (open.isCut(action_id) || open.isMasked(action_id)));
    });
    const answer = released(written, op, (recording, action) => !!this.#recordings.get(recording)?.isCut(action));
    if (this.given.length) answer.attachments = [...(answer.attachments ?? []), ...this.given];
    return this.kind.complete?.(op, answer) ?? answer;
  }

  /** The recordings the agent gets as a whole. */
  get given(): string[] {
    return this.recorded.map((r) => r.recording_id).filter((id) => this.gives(id));
  }

  /** What is written, without what was left empty. */
  get written(): Answer {
    const answer = answerOf($state.snapshot(this.draft.form as unknown) as AnswerForm);
    return this.asked.schema ? { response: {}, ...answer } : answer;
  }

  /** Sends an answer. */
  async complete(answer: Answer, digest?: string): Promise<boolean> {
    const { op } = this;
    if (!op) return false;
    this.missing = '';
    // A draft that is saved after the answer would only confuse: the answer goes first.
    this.draft.pause();
    const sent = await this.app.answering.complete(op, answer, digest);
    if (sent) this.draft.sent(!!this.op?.leaving);
    else void this.draft.save();
    return sent;
  }

  /** Looking closer is never dangerous, but a click meant for what was here before is still no wish to. */
  openCommand(run: () => void): Command {
    return { id: 'open', label: m.open, keys: ['Enter'], group: 'answer', when: () => this.arming.armed, run };
  }

  /** What can be done with this operation, as commands. Its kind and its risk never change, so neither does the list. */
  commands(): Command[] {
    return [...this.#whose(), ...(this.controller?.commands() ?? this.answers()), ...this.#others()];
  }

  /** How what is written in the form is sent, or declined. */
  answers(): Command[] {
    const when = (): boolean => this.ready;
    return [
      ...this.verdicts(),
      { id: 'send', label: m.cmd_send, keys: ['Mod+Enter'], group: 'answer', when: () => when() && !this.barred && !this.recording && !this.sifts && this.judged && !this.asked.blocks, run: () => void this.send() },
      { id: 'review', label: m.rec_stop_review, keys: ['Mod+Enter'], group: 'answer', when: () => when() && !!this.recording && !this.app.recorder.busy, run: () => void this.stopAndReview() },
      { id: 'sift', label: m.find_review, keys: ['Mod+Enter'], group: 'answer', when: () => when() && this.sifts, run: () => this.app.route.go('findings', this.id) },
      { id: 'findings', label: m.find_review, keys: [], group: 'answer', when: () => when() && !this.recording && !this.sifts, run: () => this.app.route.go('findings', this.id) },
      { id: 'decline', label: m.decline_more, keys: ['d'], group: 'answer', when, run: () => this.app.dialogs.open({ kind: 'reason', ids: [this.id] }) },
    ];
  }

  /** How the work ended, by one key. */
  verdicts(): Command[] {
    if (!this.kind.work) return [];
    return verdicts.map(({ value, key, label }) => ({ id: `verdict-${value}`, label: () => m.verdict_cmd({ what: label() }), keys: [key], group: 'answer', when: () => this.ready, run: () => this.judge(value) }));
  }

  /** Whose it is. The last command with a key has it: these give way to what answers, and to undoing the answer before. */
  #whose(): Command[] {
    const { app } = this;
    const open = (): boolean => !!this.op && !ended(this.op);
    const keys = (key: string): string[] => (app.member ? [key] : []);
    return [
      { id: 'claim', label: m.claim, keys: keys('c'), group: 'answer', when: () => open() && !this.away && (!this.op?.claimed_by || this.op.hand_over?.to === app.operator), run: () => void app.answering.claim(this.id) },
      { id: 'release', label: m.release, keys: keys('z'), group: 'answer', when: () => open() && !this.away && !!this.op?.claimed_by && (!app.member || this.op.claimed_by === app.operator) && !app.sent.left(app.sent.current?.ids ?? []), run: () => void app.answering.release(this.id) },
      { id: 'hand-over', label: m.hand_over, keys: keys('g'), group: 'answer', when: () => open() && !!app.member && !this.op?.to && app.may('POST /api/operations/{id}/handover'), run: () => this.#handOver() },
    ];
  }

  /** Asks whom it is handed over to. */
  #handOver(): void {
    if (this.op) this.app.dialogs.draw(() => import('../components/team/HandOverDialog.svelte'), { claims: [this.op] });
  }

  #others(): Command[] {
    const open = (): boolean => !!this.op && !ended(this.op);
    const here = (): boolean => open() && !this.away;
    return [
      { id: 'edit', label: m.cmd_edit, keys: ['e'], group: 'answer', when: () => open() && this.mine, run: () => this.focus('answer') },
      { id: 'ask', label: () => (open() ? m.ask_why() : m.cmd_message()), keys: ['r'], group: 'answer', when: () => !!this.op && !this.op.to && !this.op.frozen, run: () => this.focus('ask') },
      { id: 'snooze', label: m.snooze, keys: ['s'], group: 'answer', when: here, run: () => this.app.dialogs.open({ kind: 'snooze', ids: [this.id] }) },
      {
        id: 'wake', label: m.snooze_wake, keys: [], group: 'answer',
        when: () => here() && !!this.op && snoozed(this.op, ticker.now), run: () => void this.app.answering.snooze(this.id, null),
      },
      { id: 'next-fault', label: m.cmd_next_fault, keys: ['F8'], group: 'answer', when: () => open() && this.asked.faults.length > 0, run: () => void this.asked.next() },
      {
        id: 'record', group: 'answer', keys: this.screen ? ['c'] : [], label: () => (this.op?.claimed_by ? (appWindow.desktop && this.kind.work !== 'browser' ? m.rec_hide_record() : m.rec_record()) : m.rec_claim_record()),
        when: () => here() && this.mine && this.app.recorder.loaded && !this.app.recorder.current && !this.app.recorder.busy, run: () => void this.record(),
      },
    ];
  }
}
