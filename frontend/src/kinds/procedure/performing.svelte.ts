import { Problem } from '../../backend/http';
import { ProceduresApi } from '../../backend/procedures';
import { dangerous, ended } from '../../lib/life';
import type { Procedure, RunOfProcedure } from '../../lib/wire';
import { m } from '../../paraglide/messages';
import type { Command } from '../../state/commands.svelte';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { notStarted, Sources } from '../../state/procedures.svelte';
import { errorText } from '../../state/sentences.svelte';
import type { Controller } from '../kind';
import { callOf, type Call } from './call';
import { orderOf, orders, over, type Do } from './run';

/** How often a run that is not over is read, in milliseconds. */
const pace = 500;

/** The run of a procedure, on the table: asked for, under way, over. */
export class Performing implements Controller {
  run = $state.raw<RunOfProcedure>();
  /** The version that is run, for the words of its steps. Absent until it is read, or where it was deleted. */
  procedure = $state.raw<Procedure>();
  /** What is run: what the operation asks for, or what an operator ran for a request of another kind. */
  readonly call = $derived.by<Call>(() => {
    const { run, procedure } = this;
    const asked = callOf(this.opened.op ?? {});
    return run?.sha256 ? { ...asked, procedure: run.procedure, version: run.version, parameters: run.parameters, outputs: procedure?.outputs?.map(({ name }) => name) ?? [] } : asked;
  });
  trouble = $state('');
  busy = $state(false);
  readonly sources: Sources;
  readonly #api: ProceduresApi;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watched = false;
  #turn = 0;

  readonly risky = $derived.by(() => !!this.opened.op && dangerous(this.opened.op));
  readonly low = $derived.by(() => this.call.risk === 'low');
  readonly orders = $derived<readonly Do[]>(this.run ? orders(this.run) : []);

  constructor(readonly opened: OpenOperation) {
    this.#api = new ProceduresApi(opened.app.api.to);
    this.sources = new Sources(opened.app);
  }

  get why(): string {
    return this.trouble || (notStarted.get(this.opened.id) ?? '');
  }

  /** Reads the run, and follows it until it is over. Returns the undo. */
  watch(): () => void {
    this.#watched = true;
    void this.read();
    void this.#describe();
    return () => {
      this.#watched = false;
      clearTimeout(this.#timer);
    };
  }

  /** Whether there may be a run: what waits, or ended without being recorded, has none. */
  get #begun(): boolean {
    const { op } = this.opened;
    return !!this.run || (!!op && op.state !== 'pending' && (!ended(op) || !!op.result || op.recordings.length > 0));
  }

  async read(): Promise<void> {
    clearTimeout(this.#timer);
    if (!this.#begun) return;
    const turn = ++this.#turn;
    try {
      const run = await this.#api.run(this.opened.id);
      // What was ordered meanwhile knows more.
      if (turn !== this.#turn) return;
      this.accept(run);
      this.trouble = '';
    } catch (error) {
      if (turn !== this.#turn) return;
      if (!(error instanceof Problem && error.status === 404)) this.trouble = errorText(error);
    }
    if (this.#watched && this.run && !over(this.run)) this.#timer = setTimeout(() => void this.read(), pace);
  }

  async #describe(): Promise<void> {
    const { procedure, version } = this.call;
    try {
      this.procedure = (await this.#api.get(procedure, version)).procedure;
      await this.sources.read(this.procedure.steps.flatMap(({ from }) => from?.[0]?.recording_id ?? []), 'en');
    } catch {
      // It was deleted: its steps go by their ids.
    }
  }

  accept(run: RunOfProcedure): void {
    // Where there is none yet, it has no state.
    if ((run.state as string) !== '') this.run = { ...run, steps: (run as { steps: RunOfProcedure['steps'] | null }).steps ?? [] };
  }

  async start(): Promise<void> {
    await this.#do(() => this.#api.start(this.opened.id));
  }

  async order(what: Do): Promise<void> {
    const { run } = this;
    if (run && this.orders.includes(what)) await this.#do(() => this.#api.order(this.opened.id, orderOf(run, what)));
  }

  async #do(call: () => Promise<RunOfProcedure>): Promise<void> {
    if (this.busy) return;
    this.busy = true;
    this.#turn++;
    try {
      this.accept(await call());
      this.trouble = '';
      notStarted.delete(this.opened.id);
    } catch (error) {
      this.trouble = errorText(error);
    }
    this.busy = false;
    if (!this.trouble) await this.read();
  }

  commands(): Command[] {
    const { opened } = this;
    const when = (): boolean => opened.ready && !this.run && !this.busy;
    const may = (): boolean => when() && !opened.barred;
    const run = { label: m.proc_run, group: 'answer' as const, run: () => void this.start() };
    return [
      { ...run, id: 'proc-start', keys: ['Mod+Enter'], when: () => may() && !this.risky },
      { ...run, id: 'proc-start-risky', keys: ['Mod+Shift+Enter'], risky: () => true, when: () => may() && this.risky },
      { id: 'decline', label: m.decline_more, keys: ['d'], group: 'answer', when, run: () => opened.app.dialogs.open({ kind: 'reason', ids: [opened.id] }) },
    ];
  }

  /** What can be ordered now. `end` asks first. */
  ordering(end: () => void): Command[] {
    const can = (what: Do) => (): boolean => !this.busy && this.opened.mine && this.orders.includes(what);
    const one = (what: Do, label: () => string, keys: string[]): Command => ({ id: `proc-${what}`, label, keys, group: 'answer', when: can(what), run: () => void this.order(what) });
    const again = (): string => {
      const { run } = this;
      if (run?.stop?.unsure) return m.proc_not_done();
      if (run?.state !== 'stopped') return m.proc_continue();
      return run.stop?.step ? m.proc_try_again() : m.proc_look_again();
    };
    // What stops a run for a person has no key that is pressed in a hurry: the step might be done twice.
    const stopped = (): boolean => this.run?.state === 'stopped' || !!this.run?.stop?.unsure;
    return [
      one('pause', m.proc_pause, ['Space']),
      { ...one('continue', again, stopped() ? [] : ['Space']) },
      one('accept', m.proc_accept, []),
      one('step', m.proc_step, ['n']),
      one('take', m.proc_take, ['t']),
      one('done', () => (this.run?.stop && !this.run.stop.step ? m.proc_done_effect() : m.proc_done()), []),
      one('skip', m.proc_skip, []),
      { ...one('end', m.proc_end, ['Escape']), run: end },
    ];
  }
}
