import type { Operation, Risk } from '../../lib/wire';

/** What is asked for: a run of a version of a procedure. */
export interface Call {
  procedure: string;
  version: number;
  title: string;
  risk?: Risk;
  does: readonly string[];
  parameters: Readonly<Record<string, string>>;
  sites: readonly string[];
  outputs: readonly string[];
}

const texts = (value: unknown): string[] => (Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []);
const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The call of an operation, as far as it was sent in the shape it has. */
export function callOf({ details = {}, risk }: Pick<Operation, 'details' | 'risk'>): Call {
  const { procedure, version, title, does, parameters, sites, outputs } = details;
  const values = parameters && typeof parameters === 'object' && !Array.isArray(parameters) ? Object.entries(parameters) : [];
  return {
    procedure: text(procedure), version: typeof version === 'number' ? version : 0, title: text(title), risk, does: texts(does),
    parameters: Object.fromEntries(values.map(([name, value]) => [name, text(value)])), sites: texts(sites), outputs: texts(outputs),
  };
}
