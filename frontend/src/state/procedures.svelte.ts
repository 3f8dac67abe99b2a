import { SvelteMap } from 'svelte/reactivity';
import { Problem } from '../backend/http';
import { ProceduresApi } from '../backend/procedures';
import type { Action, ProcedureParameter, Recording } from '../lib/wire';
import { m } from '../paraglide/messages';
import type { AppState } from './app.svelte';
import { placeOf } from './route.svelte';

/** In place of a procedure's name: what is made of recordings. No procedure can have it. */
export const teaching = '~teach';

/** The address at which recordings become a procedure. */
export const teachPlace = (recordings: readonly string[]): string => placeOf('procedures', teaching, recordings.join('~'));

/** The address at which what was done by hand in a run becomes the next version. */
export const correctPlace = (name: string, operation: string): string => placeOf('procedures', name, operation);

/** The operation of a run in the last part of such an address, or ''. */
export const runOf = (step: string): string => (step.startsWith('op_') ? step : '');

export const proceduresOf = (app: AppState): ProceduresApi => new ProceduresApi(app.api.to);

/** Whether there is another version than the one that was changed. */
export const conflicts = (error: unknown): boolean => error instanceof Problem && error.conflict;

/** The parameter whose value does not fit, or ''. */
export const fieldOf = (error: unknown): string => (error instanceof Problem ? (error.field.split('.').at(-1) ?? '') : '');

/** What is said of parameters without a value, by their names. */
export const lacking = (parameters: readonly ProcedureParameter[], values: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(parameters.filter(({ name }) => !values[name]?.trim()).map(({ name }) => [name, m.proc_value_missing()]));

/** Why runs did not start, by their operations. */
export const notStarted = new SvelteMap<string, string>();

/** An action of a recording. */
export interface Source {
  recording_id: string;
  action_id?: string;
}

/** The actions that steps came from, for their words and pictures. What is gone has none. */
export class Sources {
  readonly #of = $state<Record<string, readonly Action[]>>({});

  constructor(private readonly app: AppState) {}

  /** Reads recordings that are not read yet. */
  async read(recordings: readonly string[], language: string): Promise<void> {
    await Promise.all([...new Set(recordings)].filter((id) => !(id in this.#of)).map(async (id) => {
      this.#of[id] = [];
      try {
        await this.app.recorder.need(id);
        this.#of[id] = (await this.app.api.actions(id, language)).actions;
      } catch {
        // It was deleted: its steps have no pictures.
      }
    }));
  }

  find({ recording_id: id, action_id: action = '' }: Source): { recording: Recording; action: Action } | undefined {
    const recording = this.app.recorder.known.get(id);
    const found = this.#of[id]?.find((one) => one.action_id === action);
    return recording && found && { recording, action: found };
  }
}
