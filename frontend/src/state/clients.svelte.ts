import { byTime } from '../lib/time';
import { ConnectApi } from '../backend/connect';
import { Problem } from '../backend/http';
import type { Client, Operation } from '../lib/wire';
import { m } from '../paraglide/messages';
import { useApp, type AppState } from './app.svelte';
import { errorText } from './sentences.svelte';

/** What is done with a client now. */
export type Doing = 'connect' | 'undo' | 'prove';

/** The clients on this machine, and what was done with them here. It outlives the page, so that a test goes on elsewhere. */
export class Clients {
  all = $state.raw<Client[]>([]);
  /** How Deskbell's program is called in settings: its path. */
  command = $state('deskbell');
  loaded = $state(false);
  looking = $state(false);
  trouble = $state('');
  /** By the client's id. */
  doing = $state<Partial<Record<string, Doing>>>({});
  troubles = $state<Partial<Record<string, string>>>({});
  /** Clients whose settings were just restored. */
  restored = $state<Partial<Record<string, boolean>>>({});
  /** The operation of the last test, once it is known, and when the test began, in milliseconds since 1970. */
  tests = $state<Partial<Record<string, { began: number; operation: string }>>>({});

  /** How often something was done with a client. */
  #changed = 0;
  #loads = 0;

  // Not derived: what is derived ends with the view that made this, which outlives it.
  get found(): Client[] {
    return this.all.filter((client) => client.found);
  }

  get connectable(): Client[] {
    return this.all.filter((client) => writes(client));
  }

  constructor(private readonly api: ConnectApi) {}

  async load(): Promise<void> {
    this.looking = true;
    const changed = this.#changed;
    const mine = ++this.#loads;
    try {
      const { clients, command } = await this.api.clients();
      if (mine !== this.#loads) return; // another look is newer
      if (changed !== this.#changed) return void (await this.load()); // what was read is older than what was done
      this.all = clients;
      this.command = command || 'deskbell';
      this.loaded = true;
      this.trouble = '';
    } catch (error) {
      this.trouble = errorText(error);
    } finally {
      if (mine === this.#loads) this.looking = false;
    }
  }

  connect(client: Client): Promise<boolean> {
    return this.#do(client, 'connect', async () => {
      this.#put(await this.api.connect(client.id, client.hash));
    });
  }

  /** Connects one after the other; what went wrong stands at each. */
  async connectAll(): Promise<void> {
    for (const client of this.connectable) await this.connect(client);
  }

  undo(client: Client): Promise<boolean> {
    return this.#do(client, 'undo', async () => {
      this.#put(await this.api.undo(client.id));
      this.restored[client.id] = true;
    });
  }

  prove(client: Client): Promise<boolean> {
    return this.#do(client, 'prove', async () => {
      this.tests[client.id] = { began: Date.now(), operation: '' };
      const { proof, operation_id } = await this.api.prove(client.id);
      this.tests[client.id] = { began: Date.now(), operation: operation_id ?? proof?.operation_id ?? '' };
      const now = this.all.find(({ id }) => id === client.id);
      if (now && proof) this.#put({ ...now, proof });
    });
  }

  /** The request of a client's test that was begun here, among these; while its id is not known, the newest of its agent since. */
  request(client: Client, operations: Iterable<Operation>): Operation | undefined {
    const test = this.tests[client.id];
    if (!test) return undefined;
    const fits = (op: Operation): boolean => (test.operation ? op.operation_id === test.operation : (op.agent_id === client.key || op.agent_id === client.id) && Date.parse(op.created_at) >= test.began - 1000);
    return [...operations].filter(fits).sort((a, b) => byTime(b.created_at, a.created_at))[0];
  }

  #put(client: Client): void {
    this.#changed++;
    this.all = this.all.map((other) => (other.id === client.id ? client : other));
  }

  async #do(client: Client, what: Doing, work: () => Promise<void>): Promise<boolean> {
    if (this.doing[client.id]) return false;
    this.doing[client.id] = what;
    this.troubles[client.id] = '';
    this.restored[client.id] = false;
    try {
      await work();
      return true;
    } catch (error) {
      const stale = what === 'connect' && error instanceof Problem && error.conflict;
      this.troubles[client.id] = stale ? m.connect_stale() : errorText(error);
      if (stale) await this.load();
      return false;
    } finally {
      this.doing[client.id] = undefined;
    }
  }
}

/** Whether connecting would write something. */
export const writes = (client: Client): boolean => client.found && (client.changes.length > 0 || !!client.revoked) && (client.state === 'ready' || client.state === 'changed');

const known = new WeakMap<AppState, Clients>();

/** Those of the signed-in page, the same for all that ask. */
export function useClients(): Clients {
  const app = useApp();
  const clients = known.get(app) ?? new Clients(new ConnectApi(app.api.to));
  known.set(app, clients);
  return clients;
}
