import { describe, expect, it } from 'vitest';
import type { TrustLine, TrustReport, TrustWhy } from './gatewire';
import { curves, drawn, moved, nearest, rootNames, ruleText, spread, strokes, table, xOf, yOf } from './trust';

const day = (n: number): string => new Date(Date.UTC(2026, 9, 23 + n)).toISOString();
const line = (verb: string, ...points: [number, number, TrustWhy?, number?][]): TrustLine => ({ verb, points: points.map(([at, value, why, before = value]) => ({ at: day(at), value, why, before })) });
const report = (...lines: TrustLine[]): TrustReport => ({ operator: 'mei', project: '/home/mei/api-server', from: day(0), to: day(30), initial: 0.5, high: 0.8, low: 0.2, lines });
const frame = { left: 30, right: 570, top: 14, bottom: 204 };

describe('the plot of trust', () => {
  it('puts no trust at the floor, full trust at the ceiling, and what is beyond neither', () => {
    expect([yOf(0, frame), yOf(0.5, frame), yOf(1, frame), yOf(1.4, frame)]).toEqual([204, 109, 14, 14]);
  });

  it('puts the first moment at the left and the last at the right', () => {
    const r = report();
    expect([xOf(day(0), r, frame), xOf(day(15), r, frame), xOf(day(30), r, frame), xOf(day(40), r, frame)]).toEqual([30, 300, 570, 570]);
  });

  it('draws one line for each kind of effect, and its label at the height of its end', () => {
    const [curve] = curves(report(line('git_write', [0, 0.5], [30, 0.6, 'allowed'])), frame, 13);
    expect([curve?.path, curve?.label]).toEqual(['M30 109L570 90', 90]);
  });

  it('drops where an answer took trust, and not before', () => {
    const [curve] = curves(report(line('git_write', [0, 0.5], [15, 0.4, 'refused', 0.5], [30, 0.45])), frame, 13);
    expect(curve?.path).toBe('M30 109L300 109L300 128L570 118.5');
  });

  it('keeps the labels of lines that end together apart, in the order of their ends', () => {
    const [a, b, c] = curves(report(line('a', [30, 0.5]), line('b', [30, 0.5]), line('c', [30, 0.52])), frame, 13);
    const labels = [c, a, b].map((curve) => curve?.label ?? 0);
    expect(labels).toEqual(labels.toSorted((x, y) => x - y));
    expect(Math.min(...labels.slice(1).map((y, i) => y - (labels[i] ?? 0)))).toBeCloseTo(13);
  });

  it('gives each line a stroke of its own, and leaves to the table what could not be told apart', () => {
    const many = Array.from({ length: 12 }, (_, i) => line(`verb_${i}`, [0, 0.5], ...Array.from({ length: i }, (_, k): [number, number, TrustWhy] => [k + 1, 0.5, 'allowed'])));
    const all = curves(report(...many), frame, 13);
    expect(new Set(all.map((curve) => JSON.stringify(curve.stroke))).size).toBe(strokes.length);
    expect(drawn(report(...many)).map((one) => one.verb)).toEqual(['verb_10', 'verb_11', 'verb_4', 'verb_5', 'verb_6', 'verb_7', 'verb_8', 'verb_9']);
    expect(table(report(...many))).toHaveLength(12);
  });

  it('draws what a thousand answers of an hour look like without a thousand corners', () => {
    const hour = Array.from({ length: 1000 }, (_, i): [number, number, TrustWhy] => [10 + i / 24_000, i === 500 ? 0.1 : 0.5 + i / 10_000, 'allowed']);
    const [curve] = curves(report(line('git_write', [0, 0.5], ...hour, [30, 0.6])), frame, 13);
    expect(curve?.places).toHaveLength(1002);
    expect(curve?.path.split('L').length).toBeLessThan(12);
    expect(curve?.path).toContain(`${yOf(0.1, frame)}`); // the one that fell is seen
  });
});

describe('spread', () => {
  it('leaves alone what has room', () => expect(spread([20, 50, 90], 13, 0, 100)).toEqual([20, 50, 90]));
  it('stays between top and bottom', () => expect(spread([98, 99, 100], 10, 0, 100)).toEqual([80, 90, 100]));
  it('gives back each height at its own place', () => expect(spread([50, 48], 10, 0, 100)).toEqual([58, 48]));
});

describe('nearest', () => {
  const all = curves(report(line('a', [0, 0.5], [15, 0.8, 'allowed']), line('b', [0, 0.5], [15, 0.2, 'refused'])), frame, 13);

  it('is the point under the pointer', () => {
    const found = nearest(all, 298, 160, 40);
    expect(found && [all[found.curve]?.verb, all[found.curve]?.places[found.place]?.point.why]).toEqual(['b', 'refused']);
  });

  it('is none far from all lines', () => expect(nearest(all, 500, 109, 40)).toBeNull());
});

describe('the table of trust', () => {
  it('says where each kind stands, how it moved, and what did not count', () => {
    const rows = table(report(line('git_write', [0, 0.5], [1, 0.51, 'allowed'], [2, 0.51, 'too_fast'], [3, 0.46, 'refused'], [30, 0.47]), line('git_read', [0, 0.6], [30, 0.6])));
    expect(rows.map((row) => row.verb)).toEqual(['git_read', 'git_write']);
    expect(rows[1]).toMatchObject({ now: 0.47, counted: { allowed: 1, refused: 1, too_fast: 1, bulk: 0, floor: 0 }, last: day(3) });
    expect(rows[1]?.change).toBeCloseTo(-0.03);
  });

  it('knows how much an answer moved it, without what time took', () => {
    expect(moved({ at: day(1), value: 0.65, before: 0.7, why: 'refused' })).toBeCloseTo(-0.05);
  });
});

it('names projects by as much of their path as tells them apart', () => {
  const names = rootNames(['/home/mei/api-server', '/home/mei/web', '/srv/web', 'C:\\work\\shop', '/']);
  expect([...names.values()]).toEqual(['api-server', 'mei/web', 'srv/web', 'shop', '/']);
});

it('says what a rule looks at', () => {
  expect(ruleText({ tool: 'Bash', command: 'go test **' })).toBe('go test **');
  expect(ruleText({ tool: 'mcp__files__*', path: 'src/**' })).toBe('mcp__files__* src/**');
  expect(ruleText({ verbs: ['git_write'] })).toBe('git_write');
});
