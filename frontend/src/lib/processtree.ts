import type { Ancestor, Try } from './wire';

/** A process of a tree, in the order in which trees are written. */
export interface ProcessRow {
  key: string;
  process: Ancestor;
  /** For each process above it, from the second on, whether more of that one's siblings follow. */
  guides: boolean[];
  /** More of its siblings follow. */
  more: boolean;
  root: boolean;
  /** It made a call that was blocked. */
  blocked: boolean;
}

interface Node {
  process: Ancestor;
  blocked: boolean;
  below: Map<string, Node>;
}

/** The processes that tried and what they descend from, each once. */
export function processTree(tries: readonly Try[]): ProcessRow[] {
  const roots = new Map<string, Node>();
  for (const tried of tries) {
    let level = roots;
    for (const [depth, process] of tried.line.entries()) {
      const key = `${process.pid} ${process.started_at}`;
      const node = level.get(key) ?? { process, blocked: false, below: new Map<string, Node>() };
      level.set(key, node);
      node.process = { ...process, agent: process.agent || node.process.agent };
      // A tool call is blocked before it has a process.
      if (depth === tried.line.length - 1 && tried.what !== 'command') node.blocked = true;
      level = node.below;
    }
  }
  const rows: ProcessRow[] = [];
  const write = (level: Map<string, Node>, above: string, guides: boolean[], root: boolean): void => {
    const nodes = [...level];
    for (const [n, [key, { process, blocked, below }]] of nodes.entries()) {
      const more = n < nodes.length - 1;
      rows.push({ key: `${above}/${key}`, process, guides, more, root, blocked });
      write(below, `${above}/${key}`, root ? [] : [...guides, more], false);
    }
  };
  write(roots, '', [], true);
  return rows;
}
