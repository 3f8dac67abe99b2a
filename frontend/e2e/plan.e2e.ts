import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Task } from './support/plans';
import { Server, type Agent, type Caller } from './support/server';
import { accessible, accessibleInBothThemes, Console, expect, fits, mod, resize, test as base, type Operation } from './support/test';

interface Change {
  change: string;
  id: string;
  from?: number;
  to?: number;
}

interface Status {
  operation_id: string;
  status: string;
  tasks: Task[];
  user_response?: { action: string; modified_tasks?: Task[]; user_message?: string; task_by_task?: boolean; changes?: Change[]; by?: string };
  votes?: { by: string; action: string }[];
  message: string;
}

/** An agent that has its plans confirmed. */
class Planner {
  constructor(readonly agent: Agent) {}

  async submit(tasks: Task[], more: object = {}): Promise<string> {
    const { operation_id: id } = await this.agent.call<Status>('POST', '/api/plans', { session_id: 'session-1', message: 'Move the billing database', tasks, ...more });
    return id;
  }

  status(id: string, wait = 0): Promise<Status> {
    return this.agent.call('GET', `/api/plans/${id}?wait=${wait}`);
  }

  /** Waits for the answer. */
  answer(id: string): Promise<Status> {
    return this.status(id, 20);
  }
}

const mild: Task[] = [
  { id: 'a', description: 'Read the log', tool_name: 'read_file', expected_outcome: 'What failed is known', args: { path: 'api.log' } },
  { id: 'b', description: 'Count the errors everywhere', tool_name: 'bash', args: { command: 'grep -c ERROR api.log' } },
  { id: 'c', description: 'List the folder', tool_name: 'bash', args: { command: 'ls' } },
  { id: 'd', description: 'Show who is logged in', tool_name: 'bash', args: { command: 'who' } },
];
const grave: Task[] = [...mild.slice(0, 2), { id: 'x', description: 'Drop the old cluster', tool_name: 'bash', args: { command: 'rm -rf /var/lib/old' } }];

const settings: Record<string, string> = { DESKBELL_PLAN_CONFIRM_BY_HUMAN: 'true' };
const test = base.extend<{ env: Record<string, string>; planner: Planner }>({
  env: [{}, { option: true }],
  server: async ({ flags, env }, use) => {
    const server = await Server.start(flags, { ...settings, ...env });
    await use(server);
    await server.end();
  },
  planner: async ({ server }, use) => use(new Planner(await server.agent('migrator'))),
});

/** Places, ids and texts of the rows. */
const rows = (page: Page): Promise<string[]> =>
  page.locator('ol.plan > li:not(.head)').evaluateAll((all) => all.map((row) => (row as HTMLElement).dataset.task ?? `-${(row as HTMLElement).dataset.gone}`));
const row = (app: Console, id: string) => app.page.locator(`[data-task="${id}"]`);
const name = (app: Console, id: string) => row(app, id).locator('button.tt');
const field = (app: Console, label: string) => app.page.getByRole('textbox', { name: label, exact: true });
const changes = (app: Console) => app.page.getByRole('group', { name: 'Your changes' });
const menu = async (app: Console, id: string, item: string): Promise<void> => {
  await name(app, id).focus();
  await row(app, id).getByRole('button', { name: /^More for task/ }).click();
  await app.page.getByRole('menuitem', { name: item }).click();
};
const operator = async (server: Server, who: string): Promise<Caller> => server.signIn((await server.operator.call<{ code: string }>('POST', `/api/session/codes?operator=${who}`, {})).code);

test('a plan is there to be read: what it comes to, its tasks, what needs care', async ({ app, planner }) => {
  const id = await planner.submit(grave, { context: { cwd: '/srv/billing' } });
  await app.open();
  await app.openOperation(id);
  const head = app.page.locator('article header').first();
  await expect(head).toContainText('Critical risk');
  await expect(head).toContainText(/3 tasks, 1 of them writes/);
  await expect(head).toContainText('/srv/billing');
  await expect(app.page.getByRole('list', { name: 'Tasks' }).getByRole('listitem')).toHaveCount(3);
  await expect(row(app, 'x')).toContainText('$ rm -rf /var/lib/old');
  await expect(row(app, 'x')).toContainText('Critical');
  await expect(app.page.getByRole('region', { name: 'Check these' })).toContainText('Task 3: Delete /var/lib/old');
  await expect(app.page.getByRole('region', { name: 'Similar plans' })).toContainText('No similar plans yet');
  await expect(app.page.getByText(/Canceled in \d+:\d\d without an answer/)).toBeVisible();
  await accessible(app.page);
});

test('what is mild is confirmed by a key, and runs as it was', async ({ app, planner }) => {
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  await app.press('a');
  const status = await planner.answer(id);
  expect([status.status, status.user_response?.by]).toEqual(['confirmed', 'mei']);
  expect(status.tasks).toEqual(mild);
});

test('what is dangerous has no single key and no default, and is dead for 500 ms', async ({ app, planner }) => {
  const id = await planner.submit(grave);
  await app.open();
  await app.page.clock.install();
  await app.page.clock.pauseAt(Date.now() + 60_000);
  await app.go(`inbox/${id}`);
  const confirm = app.button(/^Confirm/);
  await expect(confirm).toBeDisabled();
  await app.press(`${mod}+Shift+A`, `${mod}+Enter`);
  await app.page.clock.runFor(600);
  await expect(confirm).toBeEnabled();
  await expect(confirm).toHaveClass(/risky/);
  await expect(app.page.locator('.decide .btn.ink')).toHaveCount(0);
  await app.press('a', 'Enter', `${mod}+Enter`);
  expect((await planner.status(id)).status).toBe('pending');
  await app.press(`${mod}+Shift+A`);
  expect((await planner.answer(id)).status).toBe('confirmed');
});

test('tasks are changed, added, split, moved and taken out by the keyboard alone, and just these run', async ({ app, planner }) => {
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  await expect(app.button('Send changes')).toBeDisabled();
  // Changed: word by word, and undone as one.
  await name(app, 'b').focus();
  await app.press('Enter');
  await expect(field(app, 'Task')).toBeFocused();
  await app.press(`${mod}+A`);
  await app.page.keyboard.type('Count the errors of this week, then tell the team');
  await app.press('Tab');
  await app.page.keyboard.type('A number');
  await app.press('Enter');
  await expect(name(app, 'b')).toBeFocused();
  await expect(name(app, 'b').locator('del')).toHaveText('everywhere');
  await expect(name(app, 'b').locator('ins')).toHaveText('of this week, then tell the team');
  await expect(changes(app)).toContainText('1 changed');
  // Confirming it as it was would lose them.
  await expect(app.button('Confirm without changes')).toBeDisabled();
  // Moved, and said to who cannot see it.
  await app.press('Alt+ArrowUp');
  await expect.poll(() => rows(app.page)).toEqual(['b', 'a', 'c', 'd']);
  await expect(name(app, 'b')).toBeFocused();
  await expect(app.page.getByText('is now task 1 of 4')).toBeAttached();
  // Split, from its menu.
  await app.press('Tab', 'Enter');
  await expect(app.page.getByRole('menuitem', { name: 'Edit' })).toBeFocused();
  await app.press('ArrowDown', 'ArrowDown', 'Enter');
  await expect(field(app, 'Task')).toHaveValue('Tell the team');
  await app.press('Enter');
  await expect.poll(() => rows(app.page)).toEqual(['b', 'new-1', 'a', 'c', 'd']);
  // Taken out: it stays to be seen, and can be put back.
  await name(app, 'd').focus();
  await app.press('Delete');
  await expect.poll(() => rows(app.page)).toEqual(['b', 'new-1', 'a', 'c', '-d']);
  // Added below the one that has the keyboard.
  await name(app, 'c').focus();
  await app.press('n');
  await app.page.keyboard.type('Write it down');
  await app.press('Enter');
  await expect(changes(app)).toContainText('2 added');
  await expect(changes(app)).toContainText('1 moved');
  await expect(changes(app)).toContainText('1 removed');
  await app.press(`${mod}+Enter`);
  const { status, tasks, user_response: said } = await planner.answer(id);
  expect(status).toBe('modified');
  expect(tasks.map(({ description }) => description)).toEqual(['Count the errors of this week', 'Tell the team', 'Read the log', 'List the folder', 'Write it down']);
  expect(tasks[0]).toEqual({ ...mild[1], description: 'Count the errors of this week', expected_outcome: 'A number' });
  expect(tasks.map((task) => task.id)).toEqual(expect.arrayContaining(['a', 'b', 'c']));
  expect(said?.changes?.map(({ change }) => change).sort()).toEqual(['added', 'added', 'changed', 'moved', 'removed']);
});

test('every step can be undone and done again, and what is typed is one step', async ({ app, planner }) => {
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  await expect(app.button('Undo')).toBeDisabled();
  await name(app, 'a').click();
  await field(app, 'Task').pressSequentially(' and the other');
  await app.press('Enter', 'Delete');
  await name(app, 'c').focus();
  await app.press('Alt+ArrowUp');
  await expect.poll(() => rows(app.page)).toEqual(['-a', 'c', 'b', 'd']);
  await app.press(`${mod}+z`);
  await expect.poll(() => rows(app.page)).toEqual(['-a', 'b', 'c', 'd']);
  await app.press(`${mod}+z`);
  await expect(name(app, 'a')).toContainText('and the other');
  await app.press(`${mod}+z`);
  await expect(changes(app)).toContainText('None yet');
  for (let i = 0; i < 3; i++) await app.press(`${mod}+Shift+z`);
  await expect.poll(() => rows(app.page)).toEqual(['-a', 'c', 'b', 'd']);
  await app.button('Restore: Read the log and the other').or(app.button('Restore: Read the log')).click();
  await expect.poll(() => rows(app.page)).toEqual(['a', 'c', 'b', 'd']);
  // In a field the key is the field's own.
  await name(app, 'd').click();
  await field(app, 'Task').pressSequentially('!!');
  await app.press(`${mod}+z`);
  await expect.poll(() => rows(app.page)).toEqual(['a', 'c', 'b', 'd']);
  await app.press('Escape');
  await expect(name(app, 'd')).toHaveText('Show who is logged in');
});

for (const pointer of ['mouse', 'touch'] as const) {
  test(`a row is dragged to its place by ${pointer}, and left where it was with Escape`, async ({ app, planner }) => {
    const id = await planner.submit(mild);
    await app.open();
    await app.openOperation(id);
    const { page } = app;
    const drag = async (from: string, to: string, end: 'up' | 'Escape'): Promise<void> => {
      const grip = await row(app, from).locator('.grip').boundingBox();
      const target = await row(app, to).boundingBox();
      if (!grip || !target) throw new Error('nothing is drawn');
      const [x, y0, y1] = [grip.x + grip.width / 2, grip.y + grip.height / 2, target.y + target.height - 4];
      if (pointer === 'mouse') {
        await page.mouse.move(x, y0);
        await page.mouse.down();
        await page.mouse.move(x, (y0 + y1) / 2);
        await page.mouse.move(x, y1);
        if (end === 'Escape') await page.keyboard.press('Escape');
        else await expect(row(app, to)).toHaveClass(/below/);
        await page.mouse.up();
        return;
      }
      const cdp = await page.context().newCDPSession(page);
      const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', y = 0) => cdp.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] });
      await touch('touchStart', y0);
      await touch('touchMove', (y0 + y1) / 2);
      await touch('touchMove', y1);
      if (end === 'Escape') await page.keyboard.press('Escape');
      await touch('touchEnd');
    };
    await drag('a', 'c', 'Escape');
    expect(await rows(page)).toEqual(['a', 'b', 'c', 'd']);
    await drag('a', 'c', 'up');
    await expect.poll(() => rows(page)).toEqual(['b', 'c', 'a', 'd']);
    await expect(row(app, 'a')).toContainText('moved');
    await app.button('Send 1 change').click();
    expect((await planner.answer(id)).tasks.map((task) => task.id)).toEqual(['b', 'c', 'a', 'd']);
  });
}

test('what was changed survives a reload and a server that was killed', async ({ app, planner, server }) => {
  test.setTimeout(120_000);
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  await menu(app, 'c', 'Remove');
  await name(app, 'b').click();
  await field(app, 'Task').fill('Count the errors of billing');
  await field(app, 'Tell the agent what to change').fill('Only this week');
  await expect(app.page.getByText(/Draft saved \d\d:\d\d:\d\d/)).toBeVisible();
  await app.page.reload();
  await app.armed();
  await expect.poll(() => rows(app.page)).toEqual(['a', 'b', '-c', 'd']);
  await expect(name(app, 'b')).toContainText('of billing');
  await expect(field(app, 'Tell the agent what to change')).toHaveValue('Only this week');
  // Arguments that are no JSON yet are kept as they are, too.
  await name(app, 'a').click();
  await app.button('As JSON').click();
  await field(app, 'Arguments (JSON)').fill('{"path": "api');
  await app.page.waitForResponse((answer) => answer.url().endsWith('/api/human/input') && (answer.request().postData() ?? '').includes('args of a'));
  await server.stop('SIGKILL');
  await server.again();
  // A browser of the day after.
  await app.page.goto('about:blank');
  await app.open();
  await app.openOperation(id);
  await expect.poll(() => rows(app.page)).toEqual(['a', 'b', '-c', 'd']);
  await expect(row(app, 'a')).toContainText("This isn't a JSON object");
  // It cannot be sent like that: it is shown instead.
  await app.press(`${mod}+Enter`);
  await expect(field(app, 'Arguments (JSON)')).toHaveValue('{"path": "api');
  expect((await planner.status(id)).status).toBe('pending');
  await field(app, 'Arguments (JSON)').fill('{"path": "api.log", "tail": 100}');
  await app.press(`${mod}+Enter`);
  const { status, tasks, user_response: said } = await planner.answer(id);
  expect([status, said?.user_message]).toEqual(['modified', 'Only this week']);
  expect(tasks).toEqual([{ ...mild[0], args: { path: 'api.log', tail: 100 } }, { ...mild[1], description: 'Count the errors of billing' }, mild[3]]);
  app.errors.length = 0; // the browser logs the break
});

test('arguments that nobody touched stay as the agent wrote them', async ({ app, planner }) => {
  // A page reads numbers as floating point, and writes no escapes.
  const raw = '{"session_id":"s","message":"Numbers","tasks":[{"id":"a","description":"Look","tool_name":"read_file","args":{"id":12345678901234567891,"share":1.0,"text":"\\u5c06"}},{"id":"b","description":"Look again","tool_name":"read_file"}]}';
  const made = await fetch(`${planner.agent.server.url}/api/plans`, { method: 'POST', headers: { Authorization: `Bearer ${planner.agent.secret}`, 'Content-Type': 'application/json' }, body: raw });
  const { operation_id: id } = (await made.json()) as Status;
  await app.open();
  await app.openOperation(id);
  await menu(app, 'b', 'Remove');
  await app.button('Send 1 change').click();
  await planner.answer(id);
  const answer = await fetch(`${planner.agent.server.url}/api/plans/${id}`, { headers: { Authorization: `Bearer ${planner.agent.secret}` } });
  const text = await answer.text();
  expect(text).toContain('12345678901234567891');
  expect(text).toContain('"share":1.0');
  expect((JSON.parse(text) as Status).user_response?.changes?.map(({ change }) => change)).toEqual(['removed']);
});

for (const [what, tasks, ways] of [['mild', mild, ['a', `${mod}+Enter`]], ['dangerous', grave, [`${mod}+Shift+A`, `${mod}+Enter`]]] as const) {
  test(`what is ${what} is not confirmed in any way while an edit is no JSON: the page leads to it`, async ({ app, planner, page, server }) => {
    const id = await planner.submit([...tasks]);
    await app.open();
    await app.openOperation(id);
    const args = field(app, 'Arguments (JSON)');
    await name(app, 'b').click();
    await app.button('As JSON').click();
    await args.fill('{"command": "grep -c WARN');
    // The button is there to be pressed, and leads back to the field.
    for (const way of [() => app.button(/^Confirm/).click(), ...ways.map((key) => () => app.press(key))]) {
      await app.button('Keep').click();
      await way();
      await expect(app.page.getByRole('alert').filter({ hasText: "Task 2, arguments: this isn't a JSON object" })).toBeVisible();
      await expect(args).toBeFocused();
    }
    // Task by task, too.
    await app.page.getByRole('switch', { name: 'Ask before each task' }).check();
    await app.button(/^Confirm/).click();
    await expect(args).toBeFocused();
    expect((await planner.status(id)).status).toBe('pending');
    await expect(app.page.getByText(/Draft saved/)).toBeVisible();
    // On its card it can only be opened.
    const popup = await page.context().newPage();
    await popup.goto(`${server.url}/?view=popup#code=${(await server.invite()).code}`);
    const card = popup.locator(`[data-card="${id}"]`);
    await expect(card.getByRole('button', { name: 'Open' })).toBeVisible();
    await expect(card.getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
    if (what === 'mild') await expect(card).toContainText("isn't complete");
    await popup.close();
    await page.bringToFront();
    await args.fill('{"command": "grep -c WARN api.log"}');
    await expect(app.page.getByRole('alert')).toHaveCount(0);
    await app.press(`${mod}+Enter`);
    const { status, tasks: sent } = await planner.answer(id);
    expect([status, sent[1]?.args]).toEqual(['modified', { command: 'grep -c WARN api.log' }]);
  });
}

test('what an agent wrote turns and hides nothing: it is drawn with its code points in the list, the page, the history and the palette', async ({ app, planner, page }) => {
  const id = await planner.submit([{ ...mild[0], description: 'Read invoice\u202Efdp.exe' } as Task], { message: 'Move\u202E billing' });
  await app.open();
  await expect(app.row(id)).toContainText('U+202E');
  await app.openOperation(id);
  await expect(row(app, 'a')).toContainText('U+202E');
  await app.press('a');
  await planner.answer(id);
  await app.go('history');
  await expect(page.locator(`a.hit[href="#/history/${id}"]`)).toContainText('U+202E');
  await app.press(`${mod}+k`);
  await page.keyboard.type('billing');
  await expect(page.getByRole('option').filter({ hasText: 'U+202E' }).or(page.getByRole('dialog').getByText('U+202E')).first()).toBeVisible();
  await app.press('Escape', 'Escape');
  for (const view of ['inbox', 'history']) {
    await app.go(view);
    expect(await page.locator('body').evaluate((body) => [...body.querySelectorAll('*')].filter((el) => [...el.childNodes].some((node) => node.nodeType === 3 && node.nodeValue?.includes('\u202e'))).map((el) => el.outerHTML.slice(0, 200)))).toEqual([]);
  }
});

test('long texts are drawn once they are asked for, and the answer stays in sight', async ({ app, planner, page }) => {
  const words = 'All of it. '.repeat(600);
  const file = 'All of it. '.repeat(8000);
  const id = await planner.submit([{ id: 'a', description: `Write ${words}`, tool_name: 'write_file', expected_outcome: words, args: { path: 'a.txt', content: file } }], { message: `Move billing\n\n${words}` });
  await app.open();
  await app.openOperation(id);
  await expect(app.button(/^Confirm/)).toBeInViewport();
  await expect(row(app, 'a').getByRole('button', { name: /^Show all \(\d,\d{3} characters\)$/ }).first()).toBeVisible();
  expect(await page.evaluate(() => document.body.textContent?.length ?? 0)).toBeLessThan(20_000);
  await expect(row(app, 'a').getByRole('button', { name: /^Show all/ }).first()).toBeInViewport();
  await row(app, 'a').getByRole('button', { name: /^Show all/ }).first().click();
  expect(await row(app, 'a').textContent()).toContain(words.trim());
  await row(app, 'a').getByRole('button', { name: /^Show all \(88,0\d\d characters\)$/ }).click();
  expect(await row(app, 'a').textContent()).toContain(file.trim());
  await expect(app.button(/^Confirm/)).toBeInViewport();
  for (let n = 2; n; n--) await row(app, 'a').getByRole('button', { name: 'Show less' }).first().click();
  expect(await page.evaluate(() => document.body.textContent?.length ?? 0)).toBeLessThan(20_000);
});

test('secrets in arguments are masked until somebody asks for them', async ({ app, planner }) => {
  const id = await planner.submit([{ id: 'a', description: 'Call it', tool_name: 'bash', args: { command: 'curl -H "Authorization: Bearer s3cr3t-t0ken-77" https://api.example.com' } }]);
  await app.open();
  await app.openOperation(id);
  await expect(row(app, 'a')).toContainText('Authorization: Bearer ••••••');
  await expect(app.page.locator('body')).not.toContainText('s3cr3t-t0ken-77');
  await row(app, 'a').getByRole('button', { name: 'Show secrets' }).click();
  await expect(row(app, 'a')).toContainText('s3cr3t-t0ken-77');
  await row(app, 'a').getByRole('button', { name: 'Mask secrets' }).click();
  await expect(row(app, 'a')).not.toContainText('s3cr3t-t0ken-77');
});

test('an edit of a file is shown as a difference, and its JSON when it is asked for', async ({ app, planner }) => {
  const id = await planner.submit([{ id: 'a', description: 'Raise the limit', tool_name: 'Edit', args: { file_path: 'conf.ini', old_string: 'limit = 10', new_string: 'limit = 20' } }]);
  await app.open();
  await app.openOperation(id);
  await expect(row(app, 'a').locator('del')).toHaveText('10');
  await expect(row(app, 'a').locator('ins')).toHaveText('20');
  await expect(row(app, 'a')).not.toContainText('old_string');
  await row(app, 'a').getByRole('button', { name: 'As JSON' }).click();
  await expect(row(app, 'a')).toContainText('"old_string": "limit = 10"');
  await accessible(app.page);
});

test('what the user asked for stands above a plan and a question, and why a risk is high beside it', async ({ app, planner }) => {
  const context = { task: 'Make room on the disk, but keep the backups' };
  const id = await planner.submit([...grave, { id: 'y', description: 'Clean up', tool_name: 'bash' }], { context });
  await app.open();
  await app.openOperation(id);
  await expect(app.page.getByText(context.task)).toHaveCount(1);
  await expect(app.page.getByText(context.task)).toBeInViewport();
  await expect(row(app, 'x')).toContainText(/Why: .*\/var\/lib\/old/);
  await expect(row(app, 'y')).toContainText(/Why: ./);
  await expect(app.page.getByText('What the agent needs to know')).toHaveCount(0);
  const asked = await planner.agent.ring({ action_type: 'feedback', description: 'Which backups?', context });
  await app.openOperation(asked.operation_id);
  await expect(app.page.getByText(context.task)).toHaveCount(1);
});

test('a command is edited as the text it is', async ({ app, planner }) => {
  const id = await planner.submit([{ ...mild[1], args: { command: 'grep "a" x', timeout: 3 } } as Task]);
  await app.open();
  await app.openOperation(id);
  await name(app, 'b').click();
  const command = field(app, 'command');
  await expect(command).toHaveValue('grep "a" x');
  await command.fill('');
  await command.pressSequentially('grep "b" x\\y');
  await app.button('As JSON').click();
  await expect(field(app, 'Arguments (JSON)')).toHaveValue(/"timeout": 3/);
  await app.button('As text').click();
  await accessible(app.page);
  await app.button('Keep').click();
  await app.press(`${mod}+Enter`);
  expect((await planner.answer(id)).tasks[0]?.args).toEqual({ command: 'grep "b" x\\y', timeout: 3 });
});

test('a command that only reads is tried before the plan is answered, and changes nothing', async ({ app, planner }) => {
  const folder = await mkdtemp(join(tmpdir(), 'deskbell-try-'));
  await writeFile(join(folder, 'api.log'), 'ok\nERROR one\nERROR two\ntoken=ghp_0123456789abcdefghijklmnopqrstuvwxyz\n\u202eevil\n');
  const id = await planner.submit([...mild.slice(1, 2), { id: 'c', description: 'Show it', tool_name: 'bash', args: { command: 'cat api.log; ls nothing' } }, ...grave.slice(2)], { context: { cwd: folder } });
  await app.open();
  await app.openOperation(id);
  const attempt = (task: string) => row(app, task).getByRole('button', { name: 'Try', exact: true });
  await expect(attempt('x')).toHaveCount(0);
  await attempt('b').click();
  await expect(row(app, 'b')).toContainText('Ended with exit code 0. Nothing was changed.');
  await expect(row(app, 'b').locator('.out')).toHaveText('2');
  await attempt('c').focus();
  await app.press('Enter');
  await expect(row(app, 'c')).toContainText('Ended with exit code 2');
  await expect(row(app, 'c').locator('.out')).toContainText('ERROR two');
  await expect(row(app, 'c').locator('.out')).toContainText('U+202E');
  await expect(row(app, 'c').locator('.out')).not.toContainText('ghp_');
  await accessibleInBothThemes(app.page);
  // Another command is another try.
  await name(app, 'b').click();
  await field(app, 'command').fill('touch new');
  await app.button('Keep').click();
  await expect(row(app, 'b').locator('.out')).toHaveCount(0);
  expect(await readdir(folder)).toEqual(['api.log']);
  expect((await planner.status(id)).status).toBe('pending');
  await rm(folder, { recursive: true });
});

test('a plan that more have to confirm than there are operators says so', async ({ app, planner, server }) => {
  const id = await planner.submit(mild, { confirmations: 2 });
  await app.open();
  await app.openOperation(id);
  const box = app.page.getByRole('region', { name: 'Confirmations' });
  await expect(box.getByRole('status')).toContainText('only 1 operator');
  await operator(server, 'Ada');
  await app.page.reload();
  await expect(box).toContainText('0 of 2');
  await expect(box.getByRole('status')).toHaveCount(0);
});

test('a plan is sent back with words instead', async ({ app, planner }) => {
  const id = await planner.submit(grave);
  await app.open();
  await app.openOperation(id);
  await app.press('e');
  await app.page.keyboard.type('Keep the old cluster for a week');
  await expect(app.button('Confirm with this note')).toHaveClass(/risky/);
  await expect(app.button('Send instructions')).toHaveClass(/ink/);
  await app.press(`${mod}+Enter`);
  const { status, tasks, user_response: said } = await planner.answer(id);
  expect([status, tasks, said?.user_message]).toEqual(['modified', [], 'Keep the old cluster for a week']);
});

test('a plan is confirmed with a note, by no key', async ({ app, planner }) => {
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  await field(app, 'Tell the agent what to change').fill('Go ahead, but tell me when it is done');
  await app.page.locator('#operation-title').focus();
  await app.press('a');
  expect((await planner.status(id)).status).toBe('pending');
  await app.button('Confirm with this note').click();
  const { status, tasks, user_response: said } = await planner.answer(id);
  expect([status, tasks.length, said?.action, said?.user_message]).toEqual(['confirmed', 4, 'confirm', 'Go ahead, but tell me when it is done']);
});

for (const rest of ['continue', 'stop'] as const) {
  test(`task by task: one task is not run, and the operator says to ${rest}`, async ({ app, planner }) => {
    const id = await planner.submit(mild);
    const { digest } = await app.server.operator.operation(id);
    await app.server.operator.call('POST', `/api/plans/${id}/response`, { action: 'confirm', digest, task_by_task: true });
    const begin = (task: string) => planner.agent.call<{ go: boolean; why?: string; asking?: string; run: { state: string; tasks: { id: string; state: string }[] } }>('POST', `/api/plans/${id}/progress`, { task_id: task, state: 'running' });
    const { asking = '' } = await begin('a');
    await app.open();
    await app.openOperation(asking);
    await app.button('Skip or stop…').click();
    const dialog = app.page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Reason' }).fill('Not today');
    if (rest === 'stop') await dialog.getByRole('radio', { name: 'Stop the plan' }).check();
    await accessible(app.page);
    await dialog.getByRole('button', { name: rest === 'stop' ? 'Stop plan' : 'Skip task' }).click();
    await expect(dialog).toBeHidden();
    const { why, run } = await begin('a');
    expect([why, run.state]).toEqual(rest === 'stop' ? ['stopped', 'stopped'] : ['skipped', 'waiting']);
    expect(await begin('b')).toMatchObject({ go: false, why: rest === 'stop' ? 'stopped' : 'asking' });
  });
}

test('a plan is canceled with a reason', async ({ app, planner }) => {
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  await app.press('d');
  const dialog = app.page.getByRole('dialog', { name: 'Cancel this plan?' });
  await accessible(app.page);
  await dialog.getByRole('textbox', { name: 'Reason' }).fill('Not on a Friday');
  await app.press('Escape');
  await expect(dialog).toBeHidden();
  expect((await planner.status(id)).status).toBe('pending');
  await app.button('Cancel plan…').click();
  await expect(dialog.getByRole('textbox', { name: 'Reason' })).toHaveValue('Not on a Friday');
  await app.press(`${mod}+Enter`);
  const { status, user_response: said } = await planner.answer(id);
  expect([status, said?.action, said?.user_message]).toEqual(['cancelled', 'cancel', 'Not on a Friday']);
  await expect(dialog).toBeHidden();
});

test('task by task: each rings by itself, is changed by itself, and says which plan it is of', async ({ app, planner }) => {
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  await app.page.getByRole('switch', { name: 'Ask before each task' }).check();
  await app.button(/^Confirm/).click();
  expect((await planner.answer(id)).user_response?.task_by_task).toBe(true);
  const begin = (wait: number) => planner.agent.call<{ go: boolean; why?: string; task: Task }>('POST', `/api/plans/${id}/progress?wait=${wait}`, { task_id: 'a', state: 'running' });
  expect(await begin(0)).toMatchObject({ go: false, why: 'asking' });
  const one = async (): Promise<string> => {
    const { operations } = await app.server.operator.call<{ operations: Operation[] }>('GET', '/api/human/operations?state=open');
    return operations[0]?.operation_id ?? '';
  };
  await expect.poll(one).not.toBe('');
  // The plan says what it waits for, and leads there.
  const waits = app.page.getByRole('status').filter({ hasText: 'Waiting for an answer before the next task:' });
  await expect(app.page.getByText('No task has started yet')).toHaveCount(0);
  await waits.getByRole('link').click();
  await expect(app.page).toHaveURL(new RegExp(`#/inbox/${await one()}$`));
  await app.armed();
  await expect(app.page.getByText('Task of a plan')).toBeVisible();
  await expect(app.page.getByRole('link', { name: 'Move the billing database' })).toHaveAttribute('href', `#/inbox/${id}`);
  await expect(app.button('Add task')).toHaveCount(0);
  await expect(app.page.getByRole('switch')).toHaveCount(0);
  await expect(app.button('Run this task')).toBeEnabled();
  await expect(app.button('Skip or stop…')).toBeEnabled();
  await accessible(app.page);
  await name(app, 'a').click();
  await field(app, 'Task').fill('Read the log of yesterday');
  await app.press('Enter', `${mod}+Enter`);
  await expect.poll(one).toBe('');
  expect(await begin(0)).toMatchObject({ go: true, task: { id: 'a', description: 'Read the log of yesterday' } });
});

test('a new plan says which one it replaces, and why', async ({ app, planner }) => {
  const old = await planner.submit(mild);
  const id = await planner.submit(mild.slice(1), { message: 'Another way', why: 'The log is gone' });
  await app.open();
  await app.openOperation(id);
  await expect(app.page.getByText('New plan that replaces')).toContainText('The log is gone');
  await expect(app.page.locator(`a[href="#/inbox/${old}"]`).first()).toHaveText('Move the billing database');
});

test.describe('where plans must not be changed', () => {
  test.use({ env: { DESKBELL_PLAN_ALLOW_TASK_MODIFICATION: 'false' } });
  test('there is nothing to edit with, and it says why', async ({ app, planner }) => {
    const id = await planner.submit(mild);
    await app.open();
    await app.openOperation(id);
    await expect(app.page.getByText('can confirm or cancel this plan, but not change it')).toBeVisible();
    for (const gone of ['Add task', 'Undo', 'Send changes', /^More for task/, /^Edit/]) await expect(app.button(gone)).toHaveCount(0);
    await expect(field(app, 'Tell the agent what to change')).toHaveCount(0);
    await expect(app.page.locator('.grip')).toHaveCount(0);
    await app.press('n', 'Delete', 'Alt+ArrowUp');
    expect(await rows(app.page)).toEqual(['a', 'b', 'c', 'd']);
    await accessible(app.page);
    await app.press('a');
    expect((await planner.answer(id)).status).toBe('confirmed');
  });
});

test('several confirm together: who said what is there, what they changed can be taken over, and the same counts', async ({ app, planner, server }) => {
  const id = await planner.submit(mild, { confirmations: 2, operators: ['mei', 'Ada'] });
  const ada = await operator(server, 'Ada');
  await app.open();
  await app.openOperation(id);
  const box = app.page.getByRole('region', { name: 'Confirmations' });
  await expect(box).toContainText('0 of 2');
  await expect(box.getByRole('listitem').filter({ hasText: 'Ada' })).toContainText('not yet');
  // What is confirmed here first does not begin by itself.
  await app.press('a');
  await expect(box).toContainText('1 of 2');
  await expect(app.page.getByText('Your answer counts')).toBeVisible();
  expect((await planner.status(id)).status).toBe('pending');
  const { digest } = await ada.operation(id);
  await ada.call('POST', `/api/plans/${id}/response`, { action: 'modify', digest, modified_tasks: [mild[0], mild[2], { description: 'Ask Grace', tool_name: 'slack' }], user_message: 'Grace knows' });
  const hers = box.getByRole('listitem').filter({ hasText: 'Grace knows' }).first();
  await expect(hers).toContainText('with 3 changes');
  await expect(hers).toContainText('Ask Grace');
  await expect(box).toContainText('1 of 2');
  await expect(box).toContainText('Answers count together only if they are identical');
  await accessible(app.page);
  await hers.getByRole('button', { name: 'Use this version' }).click();
  await expect.poll(() => rows(app.page)).toEqual(['a', '-b', 'c', '-d', expect.stringMatching(/^t\d$/)]);
  await app.armed();
  await app.button('Send 3 changes').click();
  const { status, tasks } = await planner.answer(id);
  expect([status, tasks.map(({ description }) => description)]).toEqual(['modified', ['Read the log', 'List the folder', 'Ask Grace']]);
});

test('history is there to be used: what people usually add, and presets, which are made of a plan', async ({ app, planner, server }) => {
  const me = server.operator;
  for (const n of [1, 2]) {
    const id = await planner.submit(mild, { session_id: `before-${n}` });
    const { digest } = await me.operation(id);
    await me.call('POST', `/api/plans/${id}/response`, { action: 'modify', digest, modified_tasks: [...mild, { description: 'Restore it on a scratch server', tool_name: 'bash' }] });
  }
  const id = await planner.submit(mild);
  await app.open();
  await app.openOperation(id);
  const box = app.page.getByRole('region', { name: 'Similar plans' });
  await expect(box).toContainText('2 similar plans: 2 confirmed with changes.');
  await expect(box).toContainText('Common change: adding “Restore it on a scratch server” (2 times).');
  await box.getByRole('button', { name: 'Use' }).click();
  await expect(app.page.locator('[data-task="new-1"]')).toContainText('Restore it on a scratch server');
  // What is new is assessed.
  await expect(app.page.locator('[data-task="new-1"] .risk')).toBeVisible();
  await box.getByRole('button', { name: 'Use' }).click();
  await expect(app.page.getByText('These tasks are already in the plan')).toBeAttached();
  // A preset of three of them.
  await box.getByRole('button', { name: 'Save as preset…' }).click();
  const dialog = app.page.getByRole('dialog', { name: 'Save as preset' });
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Look around');
  for (const task of ['Count the errors everywhere', 'Show who is logged in']) await dialog.getByRole('checkbox', { name: task }).uncheck();
  await accessible(app.page);
  await app.press('Enter');
  await expect(dialog).toBeHidden();
  const { presets } = await me.call<{ presets: { name: string; tasks: Task[] }[] }>('GET', '/api/plan-presets');
  expect(presets.map((preset) => [preset.name, preset.tasks.map((task) => task.description)])).toEqual([['Look around', ['Read the log', 'List the folder', 'Restore it on a scratch server']]]);
  await app.press(`${mod}+z`);
  await menu(app, 'a', 'Remove');
  await app.page.reload();
  await app.armed();
  await expect(box.getByRole('button', { name: /Look around/ }).or(box.getByText('All presets'))).toBeVisible();
  if (await box.getByText('All presets').isVisible()) await box.getByText('All presets').click();
  await box.getByRole('button', { name: /Look around/ }).click();
  await expect(changes(app)).toContainText('2 added');
});

test('a card: mild plans of one operator are confirmed on it, others opened', async ({ app, planner, server, page }) => {
  const easy = await planner.submit(mild, { session_id: 'easy' });
  const hard = await planner.submit(grave, { session_id: 'hard', message: 'Drop it' });
  const many = await planner.submit(mild, { session_id: 'many', message: 'All of us', confirmations: 2 });
  await resize(page, 448, 1400);
  await page.goto(`${server.url}/?view=popup#code=${(await server.invite()).code}`);
  const card = (id: string) => page.locator(`[data-card="${id}"]`);
  await expect(card(easy)).toContainText('4 tasks');
  await expect(card(easy).getByRole('listitem')).toHaveCount(4);
  await expect(card(hard).getByRole('button', { name: 'Open' })).toBeVisible();
  await expect(card(hard).getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  await expect(card(many).getByRole('button', { name: /^Confirm/ })).toHaveCount(0);
  await accessible(page);
  await expect(card(easy).getByRole('button', { name: 'Confirm' })).toBeEnabled();
  await card(easy).getByRole('button', { name: 'Confirm' }).click();
  expect((await planner.answer(easy)).status).toBe('confirmed');
  expect(app.errors).toEqual([]);
});

test('plans are not answered in batches', async ({ app, planner }) => {
  const ids = [await planner.submit(mild, { session_id: 'one' }), await planner.submit(mild, { session_id: 'two' })];
  await app.open();
  for (const id of ids) await app.row(id).getByRole('checkbox').check({ force: true });
  await expect(app.page.getByText('Answer plans one by one')).toBeVisible();
  for (const gone of [/approve/i, /send/i, /decline/i, /confirm/i]) await expect(app.page.locator('.decide').getByRole('button', { name: gone })).toHaveCount(0);
  await accessible(app.page);
});

test('while it is being changed: WCAG 2.2 AA in both themes and both languages, and room at every width', async ({ app, planner }) => {
  test.setTimeout(180_000);
  const id = await planner.submit(grave, { confirmations: 2 });
  await app.open();
  for (const language of ['en', 'zh-CN']) {
    await app.page.evaluate((to) => localStorage.setItem('deskbell.language', to), language);
    await resize(app.page, 1280, 800);
    await app.page.reload();
    await app.openOperation(id);
    if (language === 'en') {
      await menu(app, 'x', 'Remove');
      await name(app, 'b').focus();
      await app.press('Alt+ArrowUp', 'n');
      await app.page.keyboard.type('Another');
      await app.press('Enter');
    }
    await name(app, 'a').click();
    await app.page.locator('ol.plan textarea').first().fill('Read the log of yesterday');
    await accessibleInBothThemes(app.page);
    for (const width of [1000, 720, 640]) {
      await resize(app.page, width);
      await fits(app.page, '.decide .btn');
    }
  }
});
