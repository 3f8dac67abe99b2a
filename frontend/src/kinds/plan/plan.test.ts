import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Problem } from '../../backend/http';
import { emptyForm } from '../../lib/answer';
import type { PlanResponse, Task, TaskChange, TasksSummary, TaskSummary } from '../../lib/planwire';
import { sampleOperation } from '../../lib/sample.testing';
import { sampleEffect } from '../../lib/verdict.testing';
import type { JsonObject, Operation } from '../../lib/wire';
import { language } from '../../state/locale.svelte';
import { roughSpan } from '../../state/wording';
import type { OpenOperation } from '../../state/openoperation.svelte';
import { easy, onCard, Plan } from './plan.svelte';
import { aboutSentence, careOf, changeWord, countSentence, historySentence, usualSentence, whyHigh } from './words';

// The page's own choice of a language is read when the module is.
vi.hoisted(() => {
  vi.stubGlobal('localStorage', { getItem: () => 'en', setItem: () => undefined });
  vi.stubGlobal('document', { documentElement: {}, getElementById: () => null });
});

const known = (id: string, over: Partial<TaskSummary> = {}): TaskSummary => ({ index: 1, id, description: `task ${id}`, tool: 'sh', risk_level: 'low', ...over });
const summary = (tasks: TaskSummary[], over: Partial<TasksSummary> = {}): TasksSummary => ({ total_tasks: tasks.length, tasks, risk_level: 'low', writes: 0, estimated_tasks: 0, runs: 0, ...over });
const tasks: Task[] = [...'abc'].map((id) => ({ id, description: `task ${id}` }));

function table(details: object = {}, over: Partial<Operation> = {}) {
  const op = sampleOperation({
    action_type: 'plan', digest: 'd1', risk: 'low', ...over,
    details: { risk_level: 'low', tasks, tasks_summary: summary([known('a'), known('b'), known('c')]), options: ['confirm', 'modify', 'cancel'], confirmations: 1, ...details } as unknown as JsonObject,
  });
  const assess = vi.fn(async (_id: string, list: Task[]) => summary(list.map(({ id }) => known(id ?? '', { risk_level: 'high', estimated_seconds: 90 })), { risk_level: 'high' }));
  const respond = vi.fn(async (_op: Operation, _response: PlanResponse) => true);
  const draft = { form: emptyForm(), touch: vi.fn(), pause: vi.fn(), save: vi.fn(async () => undefined), sent: vi.fn(), state: 'none' };
  const opened = {
    op, id: op.operation_id, draft, ready: true, mine: true, barred: false,
    app: { operator: 'mei', api: { plans: { assess, history: vi.fn(), presets: vi.fn() } }, answering: { respond }, dialogs: { open: vi.fn() } },
  };
  return { plan: new Plan(opened as unknown as OpenOperation), opened, draft, assess, respond, op };
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a plan on the table', () => {
  it('is answered with its digest, and with just what was changed', async () => {
    const { plan, respond, draft, op } = table();
    await plan.confirm();
    expect(respond).toHaveBeenLastCalledWith(op, { action: 'confirm', digest: 'd1' });
    plan.editing.remove('b');
    plan.editing.add([{ description: 'mine' }], 1);
    draft.form.human_input = ' because ';
    draft.form.task_by_task = true;
    await plan.send();
    expect(respond).toHaveBeenLastCalledWith(op, { action: 'modify', digest: 'd1', modified_tasks: [{ description: 'mine' }, tasks[0], tasks[2]], user_message: 'because', task_by_task: true });
  });

  it('says which of two tasks that changed places was taken hold of, as it is drawn', async () => {
    for (const id of ['b', 'a']) {
      const { plan, respond } = table();
      plan.editing.move(id, id === 'a' ? 2 : 1);
      expect([plan.editing.rows.filter(({ moved }) => moved).map(({ task }) => task.id), plan.editing.changes.map((change) => change.id)]).toEqual([[id], [id]]);
      await plan.send();
      expect(respond.mock.lastCall?.[1]).toMatchObject({ modified_tasks: [tasks[1], tasks[0], tasks[2]], moved: [id] });
    }
  });

  it('takes over what another moved as they moved it', () => {
    const swapped = [tasks[1], tasks[0], tasks[2]] as Task[];
    const changes: TaskChange[] = [{ change: 'moved', id: 'b', description: 'task b', from: 2, to: 1 }];
    const { plan } = table({ confirmations: 2 }, { votes: [{ by: { role: 'operator', name: 'Ada' }, at: '2026-01-02T10:00:00Z', answer: { plan: { action: 'modify', tasks: swapped, changes } } }] });
    const ada = plan.says[0];
    if (ada) plan.takeOver(ada);
    expect(plan.editing.changes).toEqual(changes);
  });

  it('goes back with words alone where nothing was changed', async () => {
    const { plan, respond, draft, op } = table();
    draft.form.human_input = 'first a dump';
    await plan.send();
    expect(respond).toHaveBeenLastCalledWith(op, { action: 'modify', digest: 'd1', user_message: 'first a dump' });
  });

  it('is not sent while a task says nothing, has no JSON, or none is left', async () => {
    const { plan, respond, draft } = table();
    const id = plan.editing.addEmpty();
    plan.editing.keep();
    await plan.send();
    expect([plan.lack, plan.editing.open]).toEqual(['empty', id]);
    plan.editing.putBack();
    plan.editing.remove(id);
    plan.editing.edit('a');
    plan.editing.writeArgs('{');
    plan.editing.write({ description: 'x' });
    await plan.send();
    expect(plan.lack).toBe('args');
    for (const { id: gone = '' } of tasks) plan.editing.remove(gone);
    await plan.send();
    expect(plan.lack).toBe('none');
    expect(respond).not.toHaveBeenCalled();
    expect(draft.sent).not.toHaveBeenCalled();
  });

  it('is neither confirmed nor sent while an edit is no JSON, even where nothing else was changed', async () => {
    const { plan, respond, draft, op } = table();
    plan.editing.edit('b');
    plan.editing.writeArgs('{"command": ');
    plan.editing.keep();
    draft.form.human_input = 'words';
    draft.form.task_by_task = true;
    for (const send of [() => plan.confirm(), () => plan.send()]) {
      expect([await send(), plan.lack, plan.editing.open, easy(op, plan)]).toEqual([false, 'args', 'b', false]);
      plan.keep();
      expect(plan.lack).toBe('');
    }
    draft.form.human_input = '';
    expect(plan.commands().find(({ id }) => id === 'send')?.when()).toBe(true);
    expect(respond).not.toHaveBeenCalled();
    plan.edit('b');
    plan.putBack();
    expect([await plan.confirm(), respond.mock.lastCall?.[1].action]).toEqual([true, 'confirm']);
  });

  it('warns where more have to agree than there are operators', () => {
    const short = (details: object, known?: number): number | undefined => table(details, { operators_known: known }).plan.short;
    expect([short({ confirmations: 3 }, 2), short({ confirmations: 2 }, 2), short({ confirmations: 3 }), short({ operators: ['a', 'b'] }, 1)]).toEqual([2, undefined, undefined, 1]);
  });

  it('keeps what was sent on the table while others still have to agree', async () => {
    const { plan, draft, opened, op } = table({ confirmations: 2 });
    await plan.confirm();
    expect(draft.sent).not.toHaveBeenCalled();
    opened.op = { ...op, state: 'completed' };
    await plan.confirm();
    expect(draft.sent).toHaveBeenCalledOnce();
  });

  it('is dangerous as soon as what it was changed into is', async () => {
    const { plan, assess } = table();
    expect(plan.grave).toBe(false);
    plan.editing.add([{ description: 'rm' }, { description: '' }]);
    plan.assess();
    expect([plan.fresh, plan.grave]).toEqual([false, false]);
    await vi.advanceTimersByTimeAsync(349);
    expect(assess).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    // What says nothing yet is not asked about.
    expect(assess.mock.calls[0]?.[1].map(({ description }) => description)).toEqual(['task a', 'task b', 'task c', 'rm']);
    expect([plan.fresh, plan.grave, plan.known(plan.editing.tasks[3] ?? { id: '', description: '' })?.estimated_seconds]).toEqual([true, true, 90]);
    // An unchanged task is as its agent was told, a changed one not known.
    expect(plan.known({ id: 'a', description: 'task a' })?.risk_level).toBe('low');
    expect(plan.known({ id: 'a', description: 'another' })).toBeUndefined();
    plan.editing.undo();
    expect([plan.fresh, plan.grave]).toEqual([true, false]);
  });

  it('says quietly that changes could not be assessed, and takes a plan that was dangerous for one', async () => {
    const { plan, assess } = table({ risk_level: 'low' }, { risk: 'high' });
    assess.mockRejectedValue(new Problem(503, 'no gatekeeper'));
    plan.editing.remove('a');
    plan.assess();
    await vi.advanceTimersByTimeAsync(400);
    expect([plan.trouble, plan.grave]).toEqual(['no gatekeeper', true]);
  });

  it('asks once for many changes, and the last answer counts', async () => {
    const { plan, assess } = table();
    for (const text of ['x', 'xy', 'xyz']) {
      plan.editing.edit('a');
      plan.editing.write({ description: text });
      plan.assess();
      await vi.advanceTimersByTimeAsync(200);
    }
    await vi.advanceTimersByTimeAsync(400);
    expect(assess).toHaveBeenCalledOnce();
  });

  it('puts in what is not there yet, below the task that has the keyboard', () => {
    const { plan } = table();
    plan.at = 'a';
    plan.use([{ description: 'Task B' }, { id: 't9', description: 'fresh' }]);
    expect(plan.editing.tasks.map(({ description }) => description)).toEqual(['task a', 'fresh', 'task b', 'task c']);
    plan.use([{ description: 'fresh' }]);
    expect(plan.said).toBe('These tasks are already in the plan');
  });

  it('has commands with a single key only where it is mild', () => {
    const keys = (risk: Operation['risk']): string[] => table({}, { risk }).plan.commands().flatMap((command) => (command.id.startsWith('confirm') ? command.keys : []));
    expect([keys('low'), keys('medium'), keys('high'), keys('critical')]).toEqual([['a'], ['a'], ['Mod+Shift+a'], ['Mod+Shift+a']]);
  });
});

describe('on a phone without a PIN', () => {
  it('is canceled or stopped with words, and neither confirmed nor changed', () => {
    const can = ({ plan, opened }: ReturnType<typeof table>): string[] => {
      opened.barred = true;
      return plan.commands().filter(({ id, when }) => ['confirm-risky', 'send', 'cancel-plan'].includes(id) && when()).map(({ id }) => id);
    };
    expect(can(table({}, { risk: 'critical' }))).toEqual(['cancel-plan']);
    const changed = table({}, { risk: 'critical' });
    changed.plan.editing.remove('a');
    expect(can(changed)).toEqual(['cancel-plan']);
    const words = table({}, { risk: 'critical' });
    words.draft.form.human_input = 'Not today.';
    expect(can(words)).toEqual(['send', 'cancel-plan']);
  });
});

describe('the card of a plan', () => {
  it('confirms what is mild, one’s own to confirm, and unchanged', () => {
    const may = (details: object = {}, over: Partial<Operation> = {}): boolean => {
      const { plan, op } = table(details, over);
      return easy(op, plan);
    };
    expect([may(), may({ confirmations: 2 }), may({ operators: ['Ada'] }), may({}, { risk: 'high' }), may({ tasks_summary: summary([], { risk_level: 'critical' }) })]).toEqual([true, false, false, false, false]);
    const { plan, op } = table();
    plan.editing.remove('a');
    expect(easy(op, plan)).toBe(false);
    expect(['confirm', 'send', 'task-up', 'cancel-plan', 'snooze'].map((id) => onCard(id, op, plan))).toEqual([false, false, false, true, true]);
  });
});

describe('confirming together', () => {
  const by = (name: string) => ({ role: 'operator' as const, name });
  const at = '2026-01-02T10:00:00Z';

  it('counts the answers that say the same, and shows who is missing and what others changed', () => {
    const changes: TaskChange[] = [{ change: 'removed', id: 'a', description: 'task a', from: 1 }];
    const { plan } = table({ confirmations: 3, operators: ['mei', 'Ada'] }, {
      votes: [
        { by: by('Ada'), at, answer: { human_input: 'less', plan: { action: 'modify', tasks: tasks.slice(1), changes } } },
        { by: by('Bo'), at, answer: { plan: { action: 'modify', tasks: tasks.slice(1), changes } } },
        { by: by('Cy'), at, answer: { plan: { action: 'confirm' } } },
      ],
    });
    expect(plan.counted).toEqual({ n: 2, all: 3 });
    expect(plan.says.map((say) => [say.name, say.mine, !!say.at, say.changes.map(({ change }) => change), say.same])).toEqual([
      ['Ada', false, true, ['removed'], false], ['Bo', false, true, ['removed'], false], ['Cy', false, true, [], true], ['mei', true, false, [], false],
    ]);
    const ada = plan.says[0];
    if (ada) plan.takeOver(ada);
    expect([plan.editing.tasks.map(({ id }) => id), plan.words, plan.says.map(({ same }) => same)]).toEqual([['b', 'c'], 'less', [true, true, false, false]]);
  });

  it('is nobody’s business where one is enough', () => expect(table().plan.says).toEqual([]));
});

describe('the words of a plan', () => {
  /** Says the same in both languages. */
  const both = (say: () => string): [string, string] => {
    language.locale = 'en';
    const en = say();
    language.locale = 'zh-CN';
    const zh = say();
    language.locale = 'en';
    return [en, zh];
  };

  it('tell how long it takes, and what that is from', () => {
    expect([0.2, 20, 540, 5400].map(roughSpan)).toEqual(['1 s', '20 s', '9 min', '90 min']);
    const of = (over: Partial<TasksSummary>): TasksSummary => summary([known('a')], { total_tasks: 6, estimated_seconds: 1560, ...over });
    expect(both(() => aboutSentence(of({ estimated_tasks: 6, runs: 4 })))).toEqual(['about 26 min, based on 4 similar runs', '约 26 分钟，依据 4 次类似执行']);
    expect(aboutSentence(of({ estimated_tasks: 6, runs: 1 }))).toBe('about 26 min, based on 1 similar run');
    expect(aboutSentence(of({ estimated_tasks: 4, runs: 4 }))).toBe('about 26 min for 4 tasks with known times');
    expect(aboutSentence(of({ estimated_tasks: 0 }))).toBe('');
    expect(both(() => aboutSentence(of({ estimated_tasks: 4, estimated_seconds: 8.2 })))).toEqual(['about 9 s for 4 tasks with known times', '约 9 秒（4 个已知用时的任务）']);
  });

  it('say why the risk of a task is high', () => {
    const of = (over: Partial<TaskSummary>): string => whyHigh(known('a', over));
    const effect = sampleEffect({ verb: 'filesystem_delete', target: '/var' });
    expect([of({ risk_level: 'medium', effects: [effect] }), of({ risk_level: 'critical', effects: [effect] }), of({ risk_level: 'high', said: [{ text: 'It deletes files.' }], effects: [effect] }), of({ risk_level: 'high' })]).toEqual(['', 'Why: Delete build/.', 'Why: It deletes files.', '']);
  });

  it('count', () => {
    expect(both(() => countSentence(6, 4))).toEqual(['6 tasks, 4 of them write', '6 个任务，其中 4 个会写入']);
    expect([countSentence(1, 1), countSentence(2, 0)]).toEqual(['1 task, which writes', '2 tasks, none of them writes']);
    expect(changeWord({ change: 'moved', id: 'a', description: '', from: 4, to: 3 })).toBe('Moves task 4 to position 3');
    // What is still there goes by its new place; what is not, by the one that it had.
    expect(changeWord({ change: 'changed', id: 'a', description: '', from: 4, to: 3 })).toBe('Changes task 3');
    expect(both(() => changeWord({ change: 'removed', id: 'a', description: '', from: 4 }))).toEqual(['Removes former task 4', '移除原任务 4']);
  });

  it('name what needs care, the most severe first, and once what is asked about again', () => {
    const effects = [sampleEffect({ resource: 'fixtures/' })];
    const cares = careOf([
      { place: 1, known: known('a', { risk_level: 'medium', asked: true }) }, { place: 2, known: known('b', { risk_level: 'medium', effects }) },
      { place: 3, known: known('c', { risk_level: 'critical', asked: true }) }, { place: 4, known: known('d') },
    ]);
    expect(cares.map(({ look, words }) => [look, words])).toEqual([
      ['red', 'Task 3: critical risk.'], ['orange', 'Task 2: Delete fixtures/.'], ['', 'You may be asked again before tasks 1, 3 run.'],
    ]);
    expect(careOf([{ place: 1, known: known('a') }])).toEqual([]);
  });

  it('tell what was decided before', () => {
    const history = (counts: object) => historySentence({ alike: [], usual: [], presets: [], counts: { confirmed: 0, sent_back: 0, modified: 0, cancelled: 0, timeout: 0, auto: 0, ...counts } });
    expect(both(() => history({ modified: 1, sent_back: 2, cancelled: 1 }))).toEqual(['4 similar plans: 1 confirmed with changes, 2 sent back, 1 canceled.', '4 个类似计划：1 个修改后确认、2 个退回修改、1 个取消。']);
    expect(history({ confirmed: 3, auto: 3 })).toBe('3 similar plans: 3 confirmed automatically.');
    expect(history({})).toBe('');
    expect(both(() => usualSentence({ change: 'added', text: 'a restore test', times: 2 }))).toEqual(['Common change: adding “a restore test” (2 times).', '常见修改：添加“a restore test”（2 次）。']);
    expect(usualSentence({ change: 'changed', text: 'tool_name', times: 1 })).toBe('Common change: another tool.');
    expect(usualSentence({ change: 'changed', text: 'expected_outcome, args', times: 1 })).not.toContain('_');
    expect(usualSentence({ change: 'changed', text: 'type', times: 1 })).not.toContain('“');
    expect(usualSentence({ change: 'changed', text: 'Drop it', times: 1 })).toBe('Common change: “Drop it” changed.');
  });
});
