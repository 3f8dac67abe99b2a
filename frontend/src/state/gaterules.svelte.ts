import type { GateApi } from '../backend/gate';
import { Problem } from '../backend/http';
import type { GateRule, Proposal, Ruling, RulePreview } from '../lib/gatewire';
import { dateOf } from '../lib/time';
import { errorText } from './sentences.svelte';
import { Trying } from './trying.svelte';

/** The user's own rules, and those that the operator's answers suggest. */
export class GateRules extends Trying {
  all = $state.raw<GateRule[]>([]);
  proposals = $state.raw<Proposal[]>([]);
  loaded = $state(false);

  constructor(private readonly api: GateApi) {
    super();
  }

  async load(): Promise<void> {
    await this.try(() => this.#read());
  }

  /** @throws Problem, which names the field at fault. */
  async add(rule: GateRule): Promise<void> {
    await this.api.addRule(rule);
    await this.load();
  }

  drop(id: string): Promise<boolean> {
    return this.try(async () => {
      await this.api.dropRule(id);
      await this.#read();
    });
  }

  dismiss(key: string): Promise<boolean> {
    return this.try(async () => {
      await this.api.dismissProposal(key);
      this.proposals = this.proposals.filter((one) => one.key !== key);
    });
  }

  async #read(): Promise<void> {
    const [all, proposals] = await Promise.all([this.api.rules(), this.api.proposals()]);
    this.all = all;
    this.proposals = proposals;
    this.loaded = true;
  }
}

/** How long a rule holds. */
export type RuleSpan = 'always' | 'hour' | 'today' | 'week' | 'month' | 'date';
export const spans: readonly RuleSpan[] = ['always', 'hour', 'today', 'week', 'month', 'date'];

const hour = 3_600_000;
const pause = 250;

/** A rule being written, with what it would have matched. */
export class RuleForm {
  decision = $state<Ruling>('allow');
  command = $state('');
  path = $state('');
  tool = $state('');
  project = $state('');
  agent = $state('');
  session = $state('');
  span = $state<RuleSpan>('always');
  /** Of the span 'date': the last day, as a date field says it. */
  date = $state('');
  reason = $state('');

  preview = $state.raw<RulePreview | null>(null);
  looking = $state(false);
  trouble = $state('');
  /** The field at fault, as the wire calls it, or ''. */
  fault = $state('');
  saving = $state(false);

  readonly empty = $derived(!this.command.trim() && !this.path.trim() && !this.tool.trim());
  readonly #verbs: string[] | undefined;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: GateApi,
    from?: GateRule,
  ) {
    if (!from) return;
    this.decision = from.decision;
    this.command = from.command ?? '';
    this.path = from.path ?? '';
    this.tool = from.tool ?? '';
    this.project = from.project ?? '';
    this.agent = from.agent_id ?? '';
    this.session = from.session_id ?? '';
    this.#verbs = from.verbs;
    if (from.until) {
      this.span = 'date';
      this.date = dateOf(new Date(from.until));
    }
  }

  /** The rule as it is written now. */
  rule(now: number): GateRule {
    const text = (value: string): string | undefined => value.trim() || undefined;
    return {
      rule_id: '', source: 'operator', matched: 0, decision: this.decision, command: text(this.command), path: text(this.path), tool: text(this.tool), project: text(this.project),
      agent_id: text(this.agent), session_id: text(this.session), verbs: this.#verbs, until: until(this.span, this.date, now), reason: text(this.reason),
    };
  }

  /** Asks, after a pause in typing, what the rule would have matched. */
  look(now: number): void {
    clearTimeout(this.#timer);
    const asked = ++this.#asked;
    if (this.empty) {
      this.preview = null;
      this.looking = false;
      this.trouble = this.fault = '';
      return;
    }
    this.looking = true;
    this.#timer = setTimeout(() => void this.#ask(asked, now), pause);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
  }

  /** Makes the rule. Returns whether that worked. */
  async save(rules: GateRules, now: number): Promise<boolean> {
    this.saving = true;
    try {
      await rules.add(this.rule(now));
      return true;
    } catch (error) {
      this.#fail(error);
      return false;
    } finally {
      this.saving = false;
    }
  }

  async #ask(asked: number, now: number): Promise<void> {
    try {
      const preview = await this.api.previewRule(this.rule(now));
      if (asked !== this.#asked) return;
      this.preview = preview;
      this.trouble = this.fault = '';
    } catch (error) {
      if (asked !== this.#asked) return;
      this.preview = null;
      this.#fail(error);
    } finally {
      if (asked === this.#asked) this.looking = false;
    }
  }

  #fail(error: unknown): void {
    this.trouble = errorText(error);
    this.fault = error instanceof Problem ? error.field : '';
  }
}

/** When a rule ends, on the wire; days end at midnight of the operator's calendar. Nothing for one that holds always. */
export function until(span: RuleSpan, date: string, now: number): string | undefined {
  const end = new Date(now);
  switch (span) {
    case 'hour':
      return new Date(now + hour).toISOString();
    case 'today':
    case 'week':
    case 'month':
      end.setDate(end.getDate() + { today: 1, week: 7, month: 30 }[span]);
      end.setHours(0, 0, 0, 0);
      return end.toISOString();
    case 'date': {
      const [year, month, day] = date.split('-').map(Number);
      return year && month && day ? new Date(year, month - 1, day + 1).toISOString() : undefined;
    }
    default:
      return undefined;
  }
}
