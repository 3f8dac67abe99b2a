import type { GateRule, TrustLine, TrustPoint, TrustReport, TrustWhy } from './gatewire';

/** Where a plot is drawn, in pixels from the top left of its box. */
export interface Frame {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** How a line is told from the others without colour: one of two shades of ink and one of four ways to break it. */
export interface Stroke {
  shade: 1 | 2;
  dash: string;
}

const dashes = ['', '5 3', '1.5 3', '8 3 1.5 3'];
export const strokes: readonly Stroke[] = dashes.flatMap((dash): Stroke[] => [{ shade: 1, dash }, { shade: 2, dash }]);

export interface Place {
  x: number;
  y: number;
  point: TrustPoint;
}

export interface Curve {
  verb: string;
  stroke: Stroke;
  path: string;
  /** In the order of time; the last is that of now. */
  places: Place[];
  /** The height of its label, moved away from other labels. */
  label: number;
}

const clamp = (n: number, least: number, most: number): number => Math.min(most, Math.max(least, n));
const round = (n: number): number => Math.round(n * 10) / 10;

export function yOf(value: number, frame: Frame): number {
  return round(frame.bottom - clamp(value, 0, 1) * (frame.bottom - frame.top));
}

export function xOf(at: string, report: Pick<TrustReport, 'from' | 'to'>, frame: Frame): number {
  const from = Date.parse(report.from);
  const whole = Math.max(1, Date.parse(report.to) - from);
  return round(frame.left + clamp((Date.parse(at) - from) / whole, 0, 1) * (frame.right - frame.left));
}

/** Answers that a line is made of: the points that are more than time passing. */
export function answers(line: TrustLine): number {
  return line.points.filter((point) => point.why).length;
}

/**
 * The lines to draw: as many as can be told apart, those with the most answers; the rest is in the table. They come in the
 * order of their verbs, so that a line keeps its stroke while others move.
 */
export function drawn(report: TrustReport): TrustLine[] {
  const byVerb = report.lines.filter((line) => line.points.length > 0).toSorted((a, b) => a.verb.localeCompare(b.verb));
  const chosen = new Set(byVerb.toSorted((a, b) => answers(b) - answers(a)).slice(0, strokes.length));
  return byVerb.filter((line) => chosen.has(line));
}

/** Moves heights apart until each has `gap` around it, in their order, as near to where they were as there is room. */
export function spread(heights: number[], gap: number, top: number, bottom: number): number[] {
  const order = heights.map((y, i) => ({ y, i })).sort((a, b) => a.y - b.y || a.i - b.i);
  let least = top;
  for (const one of order) {
    one.y = Math.max(one.y, least);
    least = one.y + gap;
  }
  let most = bottom;
  for (const one of order.toReversed()) {
    one.y = Math.min(one.y, most);
    most = one.y - gap;
  }
  const out = [...heights];
  for (const one of order) out[one.i] = round(one.y);
  return out;
}

/** What there is to draw. */
export function curves(report: TrustReport, frame: Frame, gap: number): Curve[] {
  const lines = drawn(report).map((line, i) => {
    const places = line.points.map((point) => ({ x: xOf(point.at, report, frame), y: yOf(point.value, frame), point }));
    return { verb: line.verb, stroke: strokes[i] ?? { shade: 1 as const, dash: '' }, places, path: pathOf(places, frame) };
  });
  const labels = spread(lines.map((line) => line.places.at(-1)?.y ?? frame.bottom), gap, frame.top, frame.bottom);
  return lines.map((line, i) => ({ ...line, label: labels[i] ?? frame.bottom }));
}

/**
 * A line falls back slowly as time passes, and an answer moves it at once. Of several corners in one column of pixels only
 * the first, the extremes and the last can be seen; the others are left out.
 */
function pathOf(places: Place[], frame: Frame): string {
  const corners = places.flatMap(({ x, y, point }) => {
    const before = yOf(point.before, frame);
    return before === y ? [{ x, y }] : [{ x, y: before }, { x, y }];
  });
  const kept: { x: number; y: number }[] = [];
  for (let i = 0; i < corners.length; ) {
    let end = i;
    while (end + 1 < corners.length && Math.floor(corners[end + 1]?.x ?? 0) === Math.floor(corners[i]?.x ?? 0)) end += 1;
    const column = corners.slice(i, end + 1);
    const extremes = [column.reduce((a, b) => (b.y < a.y ? b : a)), column.reduce((a, b) => (b.y > a.y ? b : a))];
    kept.push(...column.filter((corner, k) => k === 0 || k === column.length - 1 || extremes.includes(corner)));
    i = end + 1;
  }
  return kept.map((corner, i) => `${i ? 'L' : 'M'}${corner.x} ${corner.y}`).join('');
}

export interface Near {
  curve: number;
  place: number;
}

/** The point next to a place of the plot, unless none is within `reach` pixels. Of equals the later one is taken. */
export function nearest(all: Curve[], x: number, y: number, reach: number): Near | null {
  let best: Near | null = null;
  let least = reach * reach;
  all.forEach((curve, c) =>
    curve.places.forEach((place, p) => {
      const far = (place.x - x) ** 2 + (place.y - y) ** 2;
      if (far > least) return;
      least = far;
      best = { curve: c, place: p };
    }),
  );
  return best;
}

/** How much an answer moved trust; what time took before it is not the answer's. */
export const moved = (point: TrustPoint): number => point.value - point.before;

export interface TrustRow {
  verb: string;
  now: number;
  change: number;
  counted: Record<TrustWhy, number>;
  /** When the last answer was given; absent where none was. */
  last?: string;
}

/** The same as the plot in figures, the most trusted first. */
export function table(report: TrustReport): TrustRow[] {
  return report.lines
    .filter((line) => line.points.length > 0)
    .map((line) => {
      const counted: Record<TrustWhy, number> = { allowed: 0, refused: 0, too_fast: 0, bulk: 0, floor: 0 };
      for (const { why } of line.points) if (why && why in counted) counted[why] += 1;
      const now = line.points.at(-1)?.value ?? report.initial;
      return { verb: line.verb, now, change: now - (line.points[0]?.value ?? now), counted, last: line.points.findLast((point) => point.why)?.at };
    })
    .sort((a, b) => b.now - a.now || a.verb.localeCompare(b.verb));
}

/** What days are written under the plot: the first, one in the middle, the last. */
export function days(report: Pick<TrustReport, 'from' | 'to'>): number[] {
  const from = Date.parse(report.from);
  const to = Date.parse(report.to);
  return [from, from + (to - from) / 2, to];
}

/** Names for the roots of working trees: as short as tells them apart. */
export function rootNames(roots: string[]): Map<string, string> {
  const parts = new Map(roots.map((root) => [root, root.split(/[/\\]/).filter(Boolean)]));
  const name = (root: string, n: number): string => parts.get(root)?.slice(-n).join('/') || root;
  return new Map(
    roots.map((root) => {
      let n = 1;
      const most = parts.get(root)?.length ?? 1;
      while (n < most && roots.some((other) => other !== root && name(other, n) === name(root, n))) n += 1;
      return [root, name(root, n)];
    }),
  );
}

/** The last part of the root of a working tree. */
export function rootName(root: string): string {
  return root.split(/[/\\]/).findLast(Boolean) ?? root;
}

/** What a rule looks at, in its own words: the command, the path or the tool; '' where it takes anything. */
export function ruleText(rule: Pick<GateRule, 'command' | 'path' | 'tool' | 'verbs'>): string {
  return [rule.tool && !(rule.command && /^(bash|shell)$/i.test(rule.tool)) ? rule.tool : '', rule.command ?? '', rule.path ?? ''].filter(Boolean).join(' ') || (rule.verbs ?? []).join(' ');
}

/** What tells a rule from the others; those of files have no id. */
export function ruleKey(rule: Pick<GateRule, 'rule_id' | 'source' | 'command' | 'path' | 'tool' | 'verbs'>): string {
  return rule.rule_id || `${rule.source} ${ruleText(rule)}`;
}
