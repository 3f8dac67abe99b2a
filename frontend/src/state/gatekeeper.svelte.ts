import type { Api } from '../backend/api';
import type { GateApi } from '../backend/gate';
import { Problem } from '../backend/http';
import type { GateState, Policy, TrustReport } from '../lib/gatewire';
import { GateLog } from './gatelog.svelte';
import { GateRules } from './gaterules.svelte';
import { GateTrial } from './gatetrial.svelte';
import type { Operations } from './operations.svelte';
import { errorText } from './sentences.svelte';

const every = 10_000;
const pause = 400;

/** How trust moved, for one project and a number of days. */
export class TrustHistory {
  /** The root of a working tree; '' is where calls were judged last. */
  project = $state('');
  days = $state(30);
  report = $state.raw<TrustReport | null>(null);
  trouble = $state('');
  #asked = 0;

  constructor(private readonly api: GateApi) {}

  async load(): Promise<void> {
    const asked = ++this.#asked;
    try {
      const report = await this.api.trust(this.project, this.days);
      if (asked !== this.#asked) return;
      this.report = report;
      this.trouble = '';
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error);
    }
  }
}

/** The gatekeeper as its page shows it. */
export class Gatekeeper {
  state = $state.raw<GateState | null>(null);
  trouble = $state('');
  /** Why there is none in this Deskbell, in the server's words; '' where there is one. */
  missing = $state('');
  switching = $state(false);
  readonly trust: TrustHistory;
  readonly log: GateLog;
  readonly rules: GateRules;
  readonly trial: GateTrial;
  readonly api: GateApi;

  constructor(api: Api) {
    this.api = api.gate;
    this.trust = new TrustHistory(this.api);
    this.log = new GateLog(this.api);
    this.rules = new GateRules(this.api);
    this.trial = new GateTrial(this.api);
  }

  /** Reads everything anew. */
  async load(): Promise<void> {
    if (await this.#stand()) await Promise.all([this.trust.load(), this.log.refresh(), this.rules.load()]);
  }

  /**
   * Keeps up with what is decided while one looks: the live channel tells of questions and answers, and of what was let
   * through nobody tells. Returns the stop.
   */
  follow(operations: Operations, visible: () => boolean): () => void {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const undo = operations.onEvent((_id, type) => {
      if (!/^(invoked|completed|cancelled|declined)$/.test(type)) return;
      clearTimeout(timer);
      timer = setTimeout(() => void this.load(), pause);
    });
    const clock = setInterval(() => {
      if (visible()) void this.load();
    }, every);
    return () => {
      undo();
      clearTimeout(timer);
      clearInterval(clock);
    };
  }

  async setPolicy(policy: Policy): Promise<boolean> {
    this.switching = true;
    try {
      this.state = await this.api.setPolicy(policy);
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      return false;
    } finally {
      this.switching = false;
    }
  }

  /** Reads how it stands. Returns whether there is one. */
  async #stand(): Promise<boolean> {
    try {
      this.state = await this.api.state();
      this.missing = this.trouble = '';
      return true;
    } catch (error) {
      // Once it stood, the same refusal only means that the server is busy or ends.
      if (error instanceof Problem && error.missing && !this.state) this.missing = errorText(error);
      else this.trouble = errorText(error);
      return false;
    }
  }
}
