import { commandOf } from '../../lib/verdict';
import type { Json, JsonObject } from '../../lib/wire';

/** What arguments are mostly about, by their shape: a text that runs, a text as it was and as it becomes, or a text with lines. */
export type ArgsPart = { as: 'command'; name: string; text: string } | { as: 'edit'; was: string; is: string } | { as: 'text'; name: string; text: string } | { as: 'json'; text: string };

const isText = (value: Json | undefined): value is string => typeof value === 'string';

/** The one text that matters: a command, or the only argument there is; undefined where there is none. */
export function mainText(args: JsonObject | undefined): { name: string; text: string } | undefined {
  const command = commandOf({ args });
  if (command) return command;
  const [only, ...more] = Object.entries(args ?? {});
  return only && !more.length && isText(only[1]) ? { name: only[0], text: only[1] } : undefined;
}

/** Names that belong together: the text before an edit, and after it. */
function edits(args: JsonObject): { was: string; is: string; names: string[] }[] {
  return Object.keys(args).flatMap((name) => {
    const other = name.replace(/^(old|before)(?=$|[_A-Z])/, (word) => (word === 'old' ? 'new' : 'after'));
    const [was, is] = [args[name], args[other]];
    return other !== name && isText(was) && isText(is) ? [{ was, is, names: [name, other] }] : [];
  });
}

/** Arguments taken apart for a person to read. Nothing is left out. */
export function partsOf(args: JsonObject): ArgsPart[] {
  const main = commandOf({ args });
  const pairs = edits(args);
  const shown = new Set([...(main ? [main.name] : []), ...pairs.flatMap(({ names }) => names)]);
  const texts = Object.entries(args).flatMap(([name, value]): ArgsPart[] => (!shown.has(name) && isText(value) && value.trim().includes('\n') ? [{ as: 'text', name, text: value }] : []));
  for (const part of texts) if (part.as === 'text') shown.add(part.name);
  const rest = Object.entries(args).filter(([name]) => !shown.has(name));
  return [
    ...(main ? [{ as: 'command' as const, ...main }] : []),
    ...(rest.length || !shown.size ? [{ as: 'json' as const, text: JSON.stringify(Object.fromEntries(rest), null, rest.length > 2 ? 2 : undefined) }] : []),
    ...pairs.map(({ was, is }): ArgsPart => ({ as: 'edit', was, is })),
    ...texts,
  ];
}

/** Arguments as one text: a command alone as it is, anything else as JSON. */
export function argsText(args: JsonObject | undefined | null): string {
  if (!args) return '';
  const names = Object.keys(args);
  return names.length === 1 && names[0] === 'command' && isText(args.command) ? `$ ${args.command}` : JSON.stringify(args, null, names.length > 2 ? 2 : undefined);
}
