import type { GateApi } from '../backend/gate';
import type { Policy } from '../lib/gatewire';
import type { JsonObject, ToolCall, Trial } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** A call that is judged for a look. What was typed stays while one is on other pages. */
export class GateTrial {
  /** What is typed: a command, or a tool's name and its arguments. */
  mode = $state<'command' | 'tool'>('command');
  command = $state('');
  tool = $state('');
  args = $state('');
  /** '' is the one that holds. */
  policy = $state<Policy | ''>('');
  /** The root of the working tree it would run in, or ''. */
  project = $state('');
  /** Whose call it would be, for rules that name an agent; '' is the operator's own. */
  agent = $state('');

  result = $state.raw<Trial | null>(null);
  /** The call that the result is of. */
  call = $state.raw<(ToolCall & { policy?: Policy }) | null>(null);
  judged = $state('');
  judging = $state(false);
  trouble = $state('');
  /** The arguments are no JSON object. */
  broken = $state(false);

  readonly ready = $derived(this.mode === 'command' ? !!this.command.trim() : !!this.tool.trim());
  /** What is written now is what the result is of. */
  readonly current = $derived(this.judged === this.#written());
  #asked = 0;

  constructor(private readonly api: GateApi) {}

  /** Judges another command, in the same place. */
  take(command: string): Promise<void> {
    this.mode = 'command';
    this.command = command;
    return this.judge();
  }

  /** Judges a call of the past as it would be now. */
  repeat(tool: string, args: JsonObject, project: string, agent = ''): Promise<void> {
    Object.assign(this, { project, agent, policy: '' });
    const { command } = args;
    if (/^(bash|shell)$/i.test(tool) && typeof command === 'string' && Object.keys(args).every((name) => name === 'command' || name === 'description')) return this.take(command);
    Object.assign(this, { mode: 'tool', tool, args: JSON.stringify(args, null, 2) });
    return this.judge();
  }

  async judge(): Promise<void> {
    if (!this.ready) return;
    const made = this.#call();
    this.broken = !made;
    if (!made) return;
    const call = { ...made, ...(this.policy && { policy: this.policy }) };
    const asked = ++this.#asked;
    const written = this.#written();
    this.judging = true;
    try {
      const result = await this.api.try(call);
      if (asked !== this.#asked) return;
      this.result = result;
      this.call = call;
      this.judged = written;
      this.trouble = '';
    } catch (error) {
      if (asked !== this.#asked) return;
      this.result = null;
      this.trouble = errorText(error);
    } finally {
      if (asked === this.#asked) this.judging = false;
    }
  }

  #written(): string {
    return JSON.stringify([this.mode, this.mode === 'command' ? this.command : [this.tool, this.args], this.policy, this.project, this.agent]);
  }

  #call(): ToolCall | null {
    const place = { ...(this.project && { cwd: this.project, root: this.project }), ...(this.agent && { client: this.agent }) };
    if (this.mode === 'command') return { tool: 'Bash', args: { command: this.command }, ...place };
    const args = objectOf(this.args);
    return args && { tool: this.tool.trim(), args, ...place };
  }
}

/** The object that a text is, in JSON; null for anything else. No text is no arguments. */
export function objectOf(text: string): JsonObject | null {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null;
  } catch {
    return null;
  }
}
