import { call, fetchBytes, search, type Connection } from './http';
import { shell } from './shell';
import type { ListedProcedure, Procedure, ProcedureAgents, ProcedureChange, ProcedureDraft, ProcedureOffer, ProcedureOffers, RepeatedWork, RunOfProcedure, RunOrder, ShownProcedure } from '../lib/wire';

const all = '/api/procedures';
const proposed = '/api/procedure-proposals';
const one = (name: string, what = ''): string => `${all}/${encodeURIComponent(name)}${what}`;
const runOf = (operation: string, what = ''): string => `/api/operations/${encodeURIComponent(operation)}/procedure${what}`;
const offersOf = (operation: string): string => `/api/operations/${encodeURIComponent(operation)}/offers`;

/** The calls about procedures and their runs. A run goes by its operation's id. Each throws a Problem and nothing else. */
export class ProceduresApi {
  constructor(private readonly to: Connection) {}

  async list(): Promise<ListedProcedure[]> {
    return (await call<{ procedures: ListedProcedure[] | null }>(this.to, 'GET', all)).procedures ?? [];
  }

  /** Work that was done by hand again and again, and that no procedure covers. */
  async proposals(): Promise<RepeatedWork[]> {
    return (await call<{ proposals: RepeatedWork[] | null }>(this.to, 'GET', proposed)).proposals ?? [];
  }

  /** Has no work proposed that is like that of an operation. */
  dismiss(operation: string): Promise<void> {
    return call(this.to, 'DELETE', `${proposed}/${encodeURIComponent(operation)}`);
  }

  /** A procedure with its versions and runs, in its newest version where none is named. */
  async get(name: string, version?: number): Promise<ShownProcedure> {
    return whole(await call<ShownProcedure>(this.to, 'GET', one(name) + search({ version })));
  }

  /** Makes a procedure from recordings. Nothing is saved. */
  async draft(recordings: string[]): Promise<ProcedureDraft> {
    return whole(await call<ProcedureDraft>(this.to, 'POST', '/api/procedure-drafts', { recordings }));
  }

  /** The next version of a procedure, with what was done by hand in the run of an operation. Nothing is saved. */
  async correction(operation: string): Promise<ProcedureDraft> {
    return whole(await call<ProcedureDraft>(this.to, 'GET', runOf(operation, '/correction')));
  }

  /** Reads a procedure, or its file, and says what it does not cover. Nothing is saved. */
  async check(change: ProcedureChange): Promise<ProcedureDraft> {
    return whole(await call<ProcedureDraft>(this.to, 'POST', '/api/procedure-checks', change));
  }

  /** Saves a procedure, or its next version. @throws Problem with `conflict` where there is another version since */
  save(change: ProcedureChange): Promise<ShownProcedure> {
    return call(this.to, 'POST', all, change);
  }

  /** Saves a version as a file, and returns its name. */
  export(name: string, version: number): Promise<string> {
    const path = one(name, '/file') + search({ version });
    return shell.save(`${name}.yaml`, path, () => fetchBytes(this.to, path));
  }

  remove(name: string): Promise<void> {
    return call(this.to, 'DELETE', one(name));
  }

  /** Says which agents can call it, by names in which * stands for any letters; none where there are none. */
  setAgents(name: string, agents: string[], pictures: boolean): Promise<ProcedureAgents> {
    return call(this.to, 'PUT', one(name, '/agents'), { agents, pictures });
  }

  /** Asks for a run, and returns the id of its operation. */
  async ask(name: string, parameters: Record<string, string>, version: number): Promise<string> {
    return (await call<{ operation_id: string }>(this.to, 'POST', one(name, '/runs'), { parameters, version })).operation_id;
  }

  /** The procedures that cover what a request for work asks for, the best first; or the run that was begun for it. */
  offers(operation: string): Promise<ProcedureOffers> {
    return call(this.to, 'GET', offersOf(operation));
  }

  /** Runs an offered procedure for its request. */
  take(operation: string, { procedure, version, sha256 }: ProcedureOffer, parameters: Record<string, string>): Promise<RunOfProcedure> {
    return call(this.to, 'POST', offersOf(operation), { procedure, version, sha256, parameters });
  }

  start(operation: string): Promise<RunOfProcedure> {
    return call(this.to, 'POST', runOf(operation));
  }

  run(operation: string): Promise<RunOfProcedure> {
    return call(this.to, 'GET', runOf(operation));
  }

  /** not_done: the operator has looked, and the step that may have been done was not. */
  order(operation: string, order: RunOrder): Promise<RunOfProcedure> {
    return call(this.to, 'POST', runOf(operation, '/orders'), order);
  }
}

/** Lists that hold nothing may come as null. */
function whole<T extends { procedure: Procedure }>(of: T): T {
  const { does, steps } = of.procedure as { [K in 'does' | 'steps']: Procedure[K] | null };
  return { ...of, procedure: { ...of.procedure, does: does ?? [], steps: steps ?? [] } };
}
