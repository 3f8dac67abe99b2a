import { call, Problem, type Connection } from './http';
import type { Agent, Answer, Check, Kind, Operation, SettingList, SettingValue, State, TimelineEvent } from '../lib/wire';

export interface Query {
  state?: State | 'open' | 'closed' | '';
  action_type?: Kind | '';
  agent_id?: string;
  q?: string;
  limit?: number;
  cursor?: string;
  order?: 'urgent' | 'newest' | 'recent';
}

export interface Page {
  operations: Operation[];
  next?: string;
}

function search(query: object): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  return pairs.length ? '?' + new URLSearchParams(pairs.map(([key, value]) => [key, String(value)])).toString() : '';
}

/** Every call the console makes, by name. Each throws a Problem and nothing else. */
export class Api {
  constructor(readonly to: Connection) {}

  /** Whether the server knows this session. It is taken to, as long as it does not say otherwise. */
  async welcome(): Promise<boolean> {
    try {
      await this.operations({ limit: 1 });
      return true;
    } catch (error) {
      return !(error instanceof Problem && error.unauthorized);
    }
  }

  operations(query: Query): Promise<Page> {
    return this.#get('/api/human/operations' + search(query));
  }

  operation(id: string): Promise<Operation> {
    return this.#get(`/api/human/operations/${encodeURIComponent(id)}`);
  }

  async events(id: string): Promise<TimelineEvent[]> {
    return (await this.#get<{ events: TimelineEvent[] | null }>(`/api/human/operations/${encodeURIComponent(id)}/events`)).events ?? [];
  }

  claim(id: string): Promise<Operation> {
    return this.#post('/api/human/claim', { operation_id: id });
  }

  release(id: string): Promise<Operation> {
    return this.#post('/api/human/release', { operation_id: id });
  }

  decline(id: string, reason: string): Promise<Operation> {
    return this.#post('/api/human/decline', { operation_id: id, reason });
  }

  /** Saves a draft; an empty answer forgets it. With `leaving` the call outlives the page. */
  input(id: string, answer: Answer, leaving = false): Promise<Operation> {
    return call(this.to, 'POST', '/api/human/input', { operation_id: id, ...answer }, leaving);
  }

  complete(id: string, digest: string, answer: Answer): Promise<Operation> {
    return this.#post('/api/human/complete', { operation_id: id, digest, ...answer });
  }

  reply(id: string, text: string): Promise<Operation> {
    return this.#post('/api/human/reply', { operation_id: id, text });
  }

  /** A message after the end; the agent gets it at its next contact. */
  comment(id: string, text: string): Promise<Operation> {
    return this.#post('/api/human/comment', { operation_id: id, text });
  }

  snooze(id: string, until: string | null): Promise<Operation> {
    return this.#post('/api/human/snooze', { operation_id: id, until });
  }

  shown(id: string, channel: string, failed = ''): Promise<void> {
    return this.#post('/api/human/shown', { operation_id: id, channel, ...(failed && { failed }) });
  }

  seen(id: string, channel: string): Promise<void> {
    return this.#post('/api/human/seen', { operation_id: id, channel });
  }

  async agents(): Promise<Agent[]> {
    return (await this.#get<{ agents: Agent[] | null }>('/api/agents')).agents ?? [];
  }

  /** Makes a key for an agent. The answer is the only time the key is shown. */
  async addAgent(name: string): Promise<string> {
    return (await this.#post<{ key: string }>('/api/agents', { name })).key;
  }

  revokeAgent(name: string): Promise<void> {
    return call(this.to, 'DELETE', `/api/agents/${encodeURIComponent(name)}`);
  }

  settings(): Promise<SettingList> {
    return this.#get('/api/settings');
  }

  setting(key: string, value: SettingValue): Promise<SettingList> {
    return call(this.to, 'PUT', '/api/settings', { [key]: value });
  }

  async doctor(): Promise<Check[]> {
    return (await this.#get<{ checks: Check[] | null }>('/api/doctor')).checks ?? [];
  }

  /** A code that signs another browser in, once. */
  code(): Promise<{ code: string; console: string }> {
    return this.#post('/api/session/codes', {});
  }

  /** Starts the sample agent, which rings once. */
  sample(): Promise<void> {
    return this.#post('/api/sample', {});
  }

  #get<T>(path: string): Promise<T> {
    return call(this.to, 'GET', path);
  }

  #post<T>(path: string, body: unknown): Promise<T> {
    return call(this.to, 'POST', path, body);
  }
}
