import { endOf, past, reachOf, ruleFor, spanOf, type Reach, type Span } from './newrule';
import type { GateRule, RulePreview } from '../../lib/gatewire';
import type { Said } from '../../lib/wire';
import type { Api } from '../../backend/api';
import { errorText } from '../../state/sentences.svelte';

const pause = 250;

/** A rule being made beside a question: what, where, until when, and what it would have matched so far. */
export class NewRule {
  /** It is made with the answer. */
  on = $state(false);
  /** What it decides from then on. */
  decision = $state<'allow' | 'deny'>('allow');
  what = $state('');
  reach = $state<Reach>('project');
  span = $state<Span>('week');
  /** What the rule as it stands would have matched; undefined while that is read. */
  preview = $state.raw<RulePreview | undefined>();
  trouble = $state('');
  /** What of the call it does not cover, and why. */
  readonly leftOut: readonly Said[];
  readonly #rule: GateRule;
  #asked = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly api: Api,
    offered: RulePreview,
    private readonly of: { session?: string; project?: string },
    now: number,
  ) {
    this.#rule = offered.rule;
    this.leftOut = offered.left_out ?? [];
    this.what = offered.rule.command ?? '';
    this.reach = reachOf(offered.rule);
    this.span = spanOf(offered.rule, now);
    this.preview = past({ ...offered, calls: offered.calls ?? [] });
  }

  /** What it says beside a command: a tool, a path. */
  get base(): GateRule {
    return this.#rule;
  }

  /** A command was part of it, and can be changed. */
  get worded(): boolean {
    return this.#rule.command !== undefined;
  }

  /** Where it can hold, the narrowest first. */
  get reaches(): Reach[] {
    return [...(this.of.session ? (['session'] as const) : []), ...(this.of.project ? (['project'] as const) : []), 'everywhere'];
  }

  rule(now: number): GateRule {
    const base = { ...this.#rule, decision: this.decision, ...(this.worded && { command: this.what.trim() }) };
    return ruleFor(base, this.reach, this.of, endOf(this.span, now));
  }

  /** It says something: an empty command would match nothing, or everything. */
  readonly ready = $derived.by<boolean>(() => !this.worded || this.what.trim() !== '');

  /** To be called after every change: asks anew what it would have matched, at the next pause. */
  changed(): void {
    clearTimeout(this.#timer);
    this.#asked += 1;
    this.preview = undefined;
    this.trouble = '';
    if (this.ready) this.#timer = setTimeout(() => void this.#look(), pause);
  }

  stop(): void {
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const asked = this.#asked;
    try {
      const preview = await this.api.gate.previewRule(this.rule(Date.now()));
      if (asked === this.#asked) this.preview = past(preview);
    } catch (error) {
      if (asked === this.#asked) this.trouble = errorText(error);
    }
  }
}
