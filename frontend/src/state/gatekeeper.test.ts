import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GateApi, LogQuery } from '../backend/gate';
import { Problem } from '../backend/http';
import type { GateDecision, GateOutcome, GateRule, LogPage } from '../lib/gatewire';
import { GateLog } from './gatelog.svelte';
import { RuleForm, GateRules, until } from './gaterules.svelte';
import { GateTrial, objectOf } from './gatetrial.svelte';

const now = new Date(2026, 10, 21, 15, 4).getTime();

function decision(n: number, outcome?: GateOutcome): GateDecision {
  return {
    decision_id: `dec_${n}`, at: new Date(now + n * 1000).toISOString(), agent_id: 'bot', tool: 'Bash', call: `echo ${n}`, words: '', decision: outcome ? 'ask' : 'allow', risk: 'none',
    rule_id: '', rule_ids: [], verbs: [], digest: '', micros: 40, outcome,
  };
}

/** A log on a server, newest first, in pages. */
class Served {
  lines: GateDecision[] = [];
  readonly asked: LogQuery[] = [];
  readonly decisions = vi.fn(async (query: LogQuery): Promise<LogPage> => {
    this.asked.push(query);
    const all = this.lines.filter((line) => line.call.includes(query.q ?? '')).toSorted((a, b) => b.at.localeCompare(a.at));
    const from = query.cursor ? all.findIndex((line) => line.decision_id === query.cursor) + 1 : 0;
    const part = all.slice(from, from + (query.limit ?? 50));
    return { decisions: part, next: from + part.length < all.length ? part.at(-1)?.decision_id : undefined };
  });
  add(...lines: GateDecision[]): void {
    this.lines.push(...lines);
  }
}

describe('the log of decisions', () => {
  let served: Served;
  let log: GateLog;
  const ids = (): string[] => log.rows.map((row) => row.decision_id);
  beforeEach(() => {
    served = new Served();
    log = new GateLog(served as unknown as GateApi);
    served.add(...Array.from({ length: 320 }, (_, i) => decision(i)));
  });

  it('reads on page by page, and ends', async () => {
    await log.load();
    expect([log.rows.length, log.more]).toEqual([50, true]);
    await log.further();
    await log.further();
    expect([log.rows.length, log.more, ids().at(-1)]).toEqual([320, false, 'dec_0']);
    await log.further();
    expect(served.asked).toHaveLength(3);
  });

  it('puts what was decided since on top, and keeps what was read', async () => {
    await log.load();
    await log.further();
    served.add(decision(400), decision(401));
    await log.refresh();
    expect([log.rows.length, ...ids().slice(0, 3)]).toEqual([252, 'dec_401', 'dec_400', 'dec_319']);
    await log.further();
    expect(ids().at(-1)).toBe('dec_0');
    expect(new Set(ids()).size).toBe(322);
  });

  it('begins anew where more was decided than one page holds, so that no line is missing between', async () => {
    await log.load();
    served.add(...Array.from({ length: 80 }, (_, i) => decision(1000 + i)));
    await log.refresh();
    expect([log.rows.length, ids()[0], log.more]).toEqual([50, 'dec_1079', true]);
    await log.further();
    expect(ids()[80]).toBe('dec_319');
  });

  it('hears how a question far down ended', async () => {
    served.add(decision(350, 'waiting'), ...Array.from({ length: 70 }, (_, i) => decision(351 + i)));
    await log.load();
    await log.further();
    const at = ids().indexOf('dec_350');
    expect([at >= 50, log.rows[at]?.outcome]).toEqual([true, 'waiting']);
    served.lines = served.lines.map((line) => (line.decision_id === 'dec_350' ? { ...line, outcome: 'expired' } : line));
    await log.refresh();
    expect(log.rows[ids().indexOf('dec_350')]?.outcome).toBe('expired');
  });

  it('draws nothing anew when nothing changed', async () => {
    await log.load();
    const before = log.rows;
    await log.refresh();
    expect(log.rows).toBe(before);
  });

  it('drops the answer to a question that was overtaken', async () => {
    await log.load();
    log.query = 'echo 7';
    let say = (): void => undefined;
    const told = new Promise<void>((resolve) => (say = resolve));
    const late = await served.decisions({ q: 'echo 7' });
    served.decisions.mockImplementationOnce(() => told.then(() => late));
    const slow = log.load();
    log.query = 'echo 11';
    await log.load();
    say();
    await slow;
    expect([log.found, ids().includes('dec_7')]).toEqual(['echo 11', false]);
  });

  it('says what went wrong, and keeps what it has', async () => {
    await log.load();
    served.decisions.mockRejectedValueOnce(new Problem(500, 'the disk is full'));
    await log.refresh();
    expect([log.trouble, log.rows.length]).toEqual(['the disk is full', 50]);
  });
});

describe('a rule being written', () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());
  const preview = { rule: {} as GateRule, days: 30, total: 3, refused: 1, calls: [] };

  it('is looked up once one stops typing, and never for nothing', async () => {
    const previewRule = vi.fn().mockResolvedValue(preview);
    const form = new RuleForm({ previewRule } as unknown as GateApi);
    form.look(now);
    await vi.runAllTimersAsync();
    expect(previewRule).not.toHaveBeenCalled();
    for (const typed of ['go', 'go test', ' go test ** ']) {
      form.command = typed;
      form.look(now);
    }
    await vi.runAllTimersAsync();
    expect(previewRule.mock.calls.map(([rule]: GateRule[]) => rule?.command)).toEqual(['go test **']);
    expect(form.preview?.total).toBe(3);
  });

  it('sends what is not filled as absent, not as an empty pattern', () => {
    const form = new RuleForm({} as GateApi);
    form.command = 'make lint';
    expect(JSON.parse(JSON.stringify(form.rule(now)))).toEqual({ rule_id: '', source: 'operator', matched: 0, decision: 'allow', command: 'make lint' });
  });

  it('keeps what was written when it is refused, and says where the fault is', async () => {
    const addRule = vi.fn().mockRejectedValue(new Problem(422, 'no rule may reach the floor', 'command'));
    const form = new RuleForm({ addRule } as unknown as GateApi);
    form.command = 'rm -rf /';
    expect(await form.save(new GateRules({ addRule } as unknown as GateApi), now)).toBe(false);
    expect([form.trouble, form.fault, form.command, form.saving]).toEqual(['no rule may reach the floor', 'command', 'rm -rf /', false]);
  });

  it('begins with what is proposed', () => {
    const rule: GateRule = { rule_id: 'x', decision: 'allow', source: 'operator', matched: 0, command: 'docker compose up -d db', project: '/srv/api', verbs: ['container'], until: new Date(2026, 10, 28, 12).toISOString() };
    expect(new RuleForm({} as GateApi, rule).rule(now)).toMatchObject({ command: rule.command, project: '/srv/api', verbs: ['container'], until: new Date(2026, 10, 29).toISOString() });
  });
});

describe('until', () => {
  it('ends days at midnight of the calendar', () => {
    const ends = (['today', 'week', 'month'] as const).map((span) => until(span, '', now));
    expect(ends).toEqual([new Date(2026, 10, 22), new Date(2026, 10, 28), new Date(2026, 11, 21)].map((day) => day.toISOString()));
  });
  it('takes in the last day that is named', () => expect(until('date', '2026-12-24', now)).toBe(new Date(2026, 11, 25).toISOString()));
  it('is absent for what holds always, and for no date', () => expect([until('always', '', now), until('date', '', now)]).toEqual([undefined, undefined]));
});

describe('a trial', () => {
  it('sends a command to the letter, in the project that was picked', async () => {
    const judge = vi.fn().mockResolvedValue({ verdict: { decision: 'allow' }, micros: 46, parts: [] });
    const trial = new GateTrial({ try: judge } as unknown as GateApi);
    trial.command = ' cat <<X\nhi\nX\n';
    trial.project = '/srv/api';
    trial.policy = 'strict';
    trial.agent = 'claude-code';
    await trial.judge();
    expect(judge).toHaveBeenCalledExactlyOnceWith({ tool: 'Bash', args: { command: ' cat <<X\nhi\nX\n' }, cwd: '/srv/api', root: '/srv/api', client: 'claude-code', policy: 'strict' });
    expect(trial.current).toBe(true);
    trial.command += '#';
    expect(trial.current).toBe(false);
  });

  it('asks nobody about arguments that are no object', async () => {
    const judge = vi.fn();
    const trial = new GateTrial({ try: judge } as unknown as GateApi);
    Object.assign(trial, { mode: 'tool', tool: 'Write', args: '["a"]' });
    await trial.judge();
    expect([trial.broken, judge.mock.calls.length]).toEqual([true, 0]);
  });

  it('reads an object, or nothing at all', () => {
    expect([objectOf(' {"a": 1} '), objectOf(' '), objectOf('null'), objectOf('{'), objectOf('3')]).toEqual([{ a: 1 }, {}, null, null, null]);
  });
});
