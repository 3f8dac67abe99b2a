import type { CallPart, PartCheck, Ruling, ToolCall } from './gatewire';
import { commandOf, riskLevel } from './verdict';

/** A part of a call as a row of a tree, in the order in which the tree is written. */
export interface PartRow {
  /** Where it stands in the tree, '0.2.1'. It stays while rows are folded. */
  key: string;
  part: CallPart;
  /** 1 at the top. */
  level: number;
  /** Its place among the parts beside it, from 1, and how many those are. */
  place: number;
  beside: number;
  /** For each row above it, from the second level on, whether more rows of that level follow. */
  guides: boolean[];
  /** Absent where it runs nothing. */
  open?: boolean;
}

/** What a call is written as: a script of one command that does nothing else is that command. */
export function topParts(parts: readonly CallPart[]): CallPart[] {
  return parts.flatMap((part) => (part.runs?.length === 1 && !part.checks?.length ? part.runs : [part]));
}

/** The rows of a tree; those of `folded` do not show what they run. */
export function partRows(parts: readonly CallPart[], folded: ReadonlySet<string> = new Set()): PartRow[] {
  const rows: PartRow[] = [];
  const write = (level: readonly CallPart[], above: string, guides: boolean[], depth: number): void => {
    for (const [n, part] of level.entries()) {
      const key = above ? `${above}.${n}` : `${n}`;
      const open = part.runs?.length ? !folded.has(key) : undefined;
      rows.push({ key, part, level: depth, place: n + 1, beside: level.length, guides, open });
      if (open) write(part.runs ?? [], key, depth === 1 ? [] : [...guides, n < level.length - 1], depth + 1);
    }
  };
  write(topParts(parts), '', [], 1);
  return rows;
}

/** Whether something is decided about the part itself, and not only about what it runs. */
export const decides = (part: CallPart): boolean => !!part.checks?.length;

/** How many parts would pass, ask and be blocked. Those that only run others are none of these. */
export function tally(parts: readonly CallPart[]): Record<Ruling, number> {
  const counts: Record<Ruling, number> = { allow: 0, ask: 0, deny: 0 };
  for (const { part } of partRows(parts)) if (decides(part)) counts[part.decision] += 1;
  return counts;
}

/** The rows whose decision is the call's, the most severe first. */
export function deciding(parts: readonly CallPart[], decision: Ruling): PartRow[] {
  const limit = (row: PartRow): number => Number(row.part.checks?.some((check) => check.by === 'hard_limit' && check.decided) ?? false);
  return partRows(parts)
    .filter(({ part }) => decides(part) && part.decision === decision)
    .sort((a, b) => limit(b) - limit(a) || riskLevel(b.part.risk) - riskLevel(a.part.risk));
}

/** What the decision about a part rests on first. */
export const decidedBy = (part: CallPart): PartCheck | undefined => part.checks?.find((check) => check.decided);

/** A row of a file for `deskbell gate test FILE`. */
export function testLine(call: ToolCall, decision: Ruling): string {
  const command = commandOf(call)?.text;
  const plain = command !== undefined && Object.keys(call.args ?? {}).length === 1 && command.trim() === command && !/[\n\r]|^\{"/.test(command);
  return `${decision} ${plain ? command : JSON.stringify({ tool: call.tool, args: call.args ?? {} })}\n`;
}
