import { call, type Connection } from './http';
import type { Client, ClientProof } from '../lib/wire';

const of = (id: string, what: string): string => `/api/agents/clients/${encodeURIComponent(id)}/${what}`;

/** The calls about clients on this machine and their settings. Each throws a Problem and nothing else. */
export class ConnectApi {
  constructor(private readonly to: Connection) {}

  /** Every client that Deskbell knows, found or not, and what connecting it would write. */
  async clients(): Promise<{ clients: Client[]; command?: string }> {
    const all = await call<{ clients: Client[] | null; command?: string }>(this.to, 'GET', '/api/agents/clients');
    return { ...all, clients: (all.clients ?? []).map(whole) };
  }

  /** Writes exactly the changes of this hash. @throws Problem with `conflict` when the files changed since. */
  async connect(id: string, hash: string): Promise<Client> {
    return whole(await call<Client>(this.to, 'POST', of(id, 'connect'), { hash }));
  }

  async undo(id: string): Promise<Client> {
    return whole(await call<Client>(this.to, 'POST', of(id, 'undo'), {}));
  }

  /** Sends one test request through the client's settings, and answers when it was answered. */
  prove(id: string): Promise<{ proof?: ClientProof; operation_id?: string }> {
    return call(this.to, 'POST', of(id, 'prove'), {});
  }
}

/** Lists that hold nothing may come as null. */
const whole = (client: Client): Client => ({ ...client, changes: client.changes ?? [] });
