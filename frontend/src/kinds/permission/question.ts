import { isObject } from '../../lib/details';
import { dangerous } from '../../lib/life';
import { commandOf, grave, complete } from '../../lib/verdict';
import type { ChoiceAction, GateChoice, Json, JsonObject, Operation, Question, ToolCall, Verdict } from '../../lib/wire';

export { commandOf };

/** What an operation of kind permission asks, once its details are here. */
export function questionOf(op: Operation | undefined): Question | undefined {
  const details = op?.action_type === 'permission' ? op.details : undefined;
  if (!details || typeof details.tool !== 'string' || !isObject(details.verdict)) return undefined;
  return complete(details as unknown as Question);
}

/** Whether somebody is changing the call: as it was sent, it is then let run on its page alone. */
export const edited = (op: Operation): boolean => op.draft?.fields?.args !== undefined;

/** Whether a permission can be given where only its card is seen. What is not known yet is not. */
export function mild(op: Operation): boolean {
  const question = questionOf(op);
  return !!question && !dangerous(op) && !edited(op) && !grave(question.verdict) && !question.check && !question.changed;
}

const order: readonly ChoiceAction[] = ['deny', 'instead', 'backup', 'difference', 'box', 'change', 'allow'];

/** One answer of each kind, what stops the call first and what lets it run last. */
export function choicesOf(verdict: Verdict): GateChoice[] {
  return order.flatMap((action) => verdict.choices?.find((choice) => choice.action === action) ?? []);
}

/** Whether an answer lets something run. */
export const runs = (action: ChoiceAction): boolean => action === 'allow' || action === 'backup' || action === 'change';

/** Whether an answer must have no key of its own. */
export const risky = (action: ChoiceAction, verdict: Verdict): boolean => action === 'allow' && grave(verdict);

/** The arguments beside the command. */
export function argsBeside(args: JsonObject | undefined, name: string): [string, Json][] {
  return Object.entries(args ?? {}).filter(([other]) => other !== name);
}

/** The arguments as they are drawn and edited: a command as it is, anything else as JSON. */
export function argsText(call: Pick<ToolCall, 'args'>): string {
  return commandOf(call)?.text ?? JSON.stringify(call.args ?? {}, null, 2);
}

/** Arguments that were edited as text; undefined where that is no JSON object. */
export function argsFrom(call: Pick<ToolCall, 'args'>, text: string): JsonObject | undefined {
  const command = commandOf(call);
  if (command) return text.trim() ? { ...call.args, [command.name]: text } : undefined;
  try {
    const value = JSON.parse(text) as Json;
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
