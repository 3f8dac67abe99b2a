import { shell } from '../backend/shell';
import { dueAgain } from '../lib/escalate';
import { byUrgency } from '../lib/groups';
import { interruption } from '../lib/interrupt';
import { looked, rings, stands, waitsSince } from '../lib/life';
import type { Attempt, Operation, StoppedRun } from '../lib/wire';
import { m } from '../paraglide/messages';
import type { AppState } from './app.svelte';
import { layout } from './layout.svelte';
import { ticker } from './ticker.svelte';
import { kindWord, nameOf } from '../kinds/words';
import { sentence } from './sentences.svelte';
import { appWindow } from './window.svelte';
import { riskSentence, spokenSpan } from './wording';

/** How long the window may take to appear with a card, in seconds. */
const appearing = 3;

interface Wish {
  enabled: boolean;
  after: number;
  /** How long a request may be unseen until it is shown again, in milliseconds, and how often; 0: it is not. */
  every: number;
  times: number;
}

/** Before the id of an operation whose run stopped: its notification is none of the request. */
const stopPrefix = 'stop:';
/** The operation or the page that a notification is of. */
export const noticeOf = (id: string): string => (id.startsWith(stopPrefix) ? id.slice(stopPrefix.length) : id);

/** A stop of a run: how often it has stopped, since when that is known here, what the settings said then, whether it rang, and whether its notification is up. */
interface Stop {
  stops: number;
  at: number;
  wish: Promise<Wish>;
  known: boolean;
  up: boolean;
}

/** How long what the settings say of showing again is taken for granted, in milliseconds. */
const known = 15_000;

/**
 * The system's own notifications: one for each request that the operator would else not learn of, dismissed when it rings
 * no more. Nothing in a browser.
 */
export class Notices {
  /** Requests that have a notification, and those that need none. */
  readonly #up = new Set<string>();
  readonly #notNeeded = new Set<string>();
  /** Since when a request could be seen, in ms, and what the settings said then. */
  readonly #first = new Map<string, { at: number; wish: Promise<Wish> }>();

  readonly #alerted = new Set<string>();
  /** Of runs that have stopped: the stop that rings. */
  readonly #stops = new Map<string, Stop>();
  /** How often requests that nobody has seen were shown again, since they wait. */
  readonly #again = new Map<string, number>();
  #repeats: { at: number; wish: Promise<Wish> } | undefined;

  constructor(private readonly app: AppState) {}

  /** To be called once a second, and whenever requests, the window or its focus change. */
  follow(): void {
    if (!shell.desktop) return;
    for (const attempt of this.app.attempts.open) {
      if (!this.#alerted.has(attempt.attempt_id)) void this.#alert(attempt);
    }
    for (const ids of [this.#up, this.#notNeeded]) {
      for (const id of [...ids]) {
        if (this.#rings(id)) continue;
        ids.delete(id);
        this.#first.clear(); // who ended one has the other cards before them
        if (ids === this.#up) void shell.dismiss(id);
      }
    }
    this.#ringStops();
    void this.#repeat();
    for (const { operation_id: id } of this.app.ringing) {
      if (!this.#up.has(id) && !this.#notNeeded.has(id) && appWindow.shows(this.app.operations.all.get(id)?.risk)) void this.#consider(id);
    }
  }

  /**
   * Shows requests again that nobody has seen, louder than at first: one notification for all that are due. What was due before this
   * window began counts as shown: a restart does not notify of it at once. What is due while it is not wanted is shown once afterwards.
   */
  async #repeat(): Promise<void> {
    const now = ticker.now;
    const unseen = this.app.ringing.filter((op) => !looked(op, now));
    for (const id of [...this.#again.keys()]) if (!unseen.some((op) => op.operation_id === id)) this.#again.delete(id);
    if (!unseen.length) return;
    if (!this.#repeats || now - this.#repeats.at > known) this.#repeats = { at: now, wish: this.#wish() };
    const { enabled, every, times } = await this.#repeats.wish;
    const wanted = (op: Operation): boolean => enabled && !this.#inFront && appWindow.shows(op.risk);
    const due: Operation[] = [];
    for (const op of unseen) {
      const n = dueAgain(now - waitsSince(op), every, times);
      const shown = this.#again.get(op.operation_id);
      if (shown !== undefined && n > shown && !wanted(op)) continue;
      this.#again.set(op.operation_id, n);
      if (shown !== undefined && n > shown) due.push(op);
    }
    const [first, ...others] = due.sort(byUrgency);
    if (first && !looked(this.app.operations.all.get(first.operation_id) ?? first, now)) await this.#notify(first, others.length);
  }

  /** A run that stops rings once for each stop, until it continues. */
  #ringStops(): void {
    for (const [id, one] of [...this.#stops]) {
      if (this.app.stopOf(id)?.stops === one.stops) continue;
      this.#stops.delete(id);
      if (one.up) void shell.dismiss(stopPrefix + id);
    }
    for (const run of this.app.stopped) {
      const op = this.app.operations.all.get(run.operation_id);
      if (!op || !appWindow.shows(op.risk)) continue;
      let one = this.#stops.get(run.operation_id);
      if (!one) this.#stops.set(run.operation_id, (one = { stops: run.stops, at: Date.now(), wish: this.#wish(), known: false, up: false }));
      if (!one.known) void this.#ringStop(run, op, one);
    }
  }

  async #ringStop(run: StoppedRun, op: Operation, one: Stop): Promise<void> {
    const inFront = this.#inFront;
    const { enabled, after } = await one.wish;
    if (one.known || this.app.stopOf(run.operation_id)?.stops !== run.stops) return;
    const waited = (Date.now() - Math.max(one.at, this.app.deliveries.touched)) / 1000;
    const verdict = interruption({ inFront, card: appWindow.mode !== 'console' && (layout.visible || waited < appearing), seen: false, waited, after, another: this.#up.size > 0 });
    if (verdict === 'later') return;
    one.known = true;
    if (verdict === 'known' || !enabled) return;
    one.up = true;
    const what = nameOf(op, 80);
    appWindow.moved += 1;
    await shell.notify({
      id: stopPrefix + run.operation_id, kind: op.action_type, risk: op.risk ?? '', again: true,
      title: run.number ? m.notice_stopped({ what, n: run.number }) : m.notice_stopped_effect({ what }),
      body: [run.title, run.stop.unsure ? m.proc_unsure() : '', m.proc_expected() + m.colon() + sentence(run.stop.expected), m.proc_found() + m.colon() + sentence(run.stop.found)].filter(Boolean).join('\n'),
    });
    appWindow.moved += 1;
  }

  /** An alert is shown once, whatever the window shows: it is rare, and about the window itself. */
  async #alert(attempt: Attempt): Promise<void> {
    this.#alerted.add(attempt.attempt_id);
    if (!(await this.#wish()).enabled) return;
    const { attemptTitle } = await import('./attemptwording');
    await shell.notify({ id: attempt.attempt_id, kind: 'alert', risk: 'critical', title: attemptTitle(attempt), body: m.attempt_all_blocked({ n: attempt.count }) });
  }

  /** The operator looks at the inbox. */
  get #inFront(): boolean {
    return appWindow.mode === 'console' && layout.focused && this.app.route.page === 'inbox';
  }

  #rings(id: string): boolean {
    const op = this.app.operations.all.get(id);
    return !!op && rings(op, ticker.now, this.app.member);
  }

  async #consider(id: string): Promise<void> {
    const first = this.#first.get(id) ?? { at: Date.now(), wish: this.#wish() };
    this.#first.set(id, first);
    // Of the moment at which the request was shown: the settings' answer may come when the operator has already gone elsewhere.
    const inFront = this.#inFront;
    const { enabled, after } = await first.wish;
    const op = this.app.operations.all.get(id);
    if (!op || !this.#rings(id) || this.#up.has(id) || this.#notNeeded.has(id)) return;
    const waited = (Date.now() - Math.max(first.at, this.app.deliveries.touched)) / 1000;
    const verdict = interruption({
      inFront,
      card: appWindow.mode !== 'console' && (layout.visible || waited < appearing),
      // A restart of the app does not notify twice.
      seen: looked(op, ticker.now) || (op.deliveries?.some((d) => d.channel === 'notification' && stands(op, d.shown, ticker.now)) ?? false),
      waited,
      after,
      another: this.#up.size > 0,
    });
    if (verdict === 'known' || !enabled) this.#notNeeded.add(id);
    else if (verdict === 'now') await this.#notify(op);
  }

  async #wish(): Promise<Wish> {
    try {
      const { settings } = await this.app.api.settings();
      const value = (key: string): unknown => settings.find((setting) => setting.key === key)?.value;
      return {
        enabled: value('notifications.enabled') === true, after: Number(value('notifications.after')),
        every: Number(value('notifications.repeat_minutes')) * 60_000, times: Number(value('notifications.repeat_times')),
      };
    } catch {
      return { enabled: true, after: 0, every: 0, times: 0 }; // without the server's word rather one notification too many
    }
  }

  /** Shows a notification; again: of a request that was shown before, and of how many others. */
  async #notify(op: Operation, others = -1): Promise<void> {
    const again = others >= 0;
    this.#up.add(op.operation_id);
    const title = { agent: op.agent_id, what: nameOf(op, 80) };
    const line = [again && m.notice_unseen({ time: spokenSpan(ticker.now - waitsSince(op)) }), others > 0 && m.notice_others({ n: others }), kindWord(op.action_type), op.risk ? riskSentence(op.risk) : ''].filter(Boolean).join(' · ');
    appWindow.moved += 1;
    const shown = await shell.notify({
      id: op.operation_id,
      kind: op.action_type,
      risk: op.risk ?? '',
      title: again ? m.notice_again(title) : m.notice_title(title),
      body: line,
      again,
    });
    appWindow.moved += 1;
    this.app.deliveries.shown(op.operation_id, 'notification', shown ? '' : m.notice_none());
  }
}
