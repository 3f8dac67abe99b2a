import type { Api } from '../backend/api';
import type { Agent } from '../lib/wire';
import { errorText } from './sentences.svelte';

/** The agents that have a key. */
export class AgentRegistry {
  agents = $state.raw<Agent[]>([]);
  loaded = $state(false);
  trouble = $state('');
  /** The key of the agent that was just added: shown once, kept nowhere. */
  fresh = $state<{ name: string; key: string } | null>(null);
  readonly live = $derived<Agent[]>(this.agents.filter((agent) => !agent.revoked_at));

  constructor(private readonly api: Api) {}

  async load(): Promise<void> {
    await this.#try(async () => {
      this.agents = await this.api.agents();
      this.loaded = true;
    });
  }

  add(name: string): Promise<boolean> {
    return this.#try(async () => {
      this.fresh = { name, key: await this.api.addAgent(name) };
      this.agents = await this.api.agents();
    });
  }

  revoke(name: string): Promise<boolean> {
    return this.#try(async () => {
      await this.api.revokeAgent(name);
      if (this.fresh?.name === name) this.fresh = null;
      this.agents = await this.api.agents();
    });
  }

  async #try(work: () => Promise<void>): Promise<boolean> {
    try {
      await work();
      this.trouble = '';
      return true;
    } catch (error) {
      this.trouble = errorText(error);
      return false;
    }
  }
}
