import type { Locator } from '@playwright/test';
import { accessible, type Agent, choose, type Console, expect, fits, mod, resize, test as base } from './support/test';
import { respondTo } from './support/plans';
import type { Caller } from './support/server';

interface Task {
  id?: string;
  description: string;
  tool_name?: string;
  expected_outcome?: string;
}
interface PlanStatus {
  operation_id: string;
  status: string;
  run?: { state: string; tasks: (Task & { state: string; note?: string; skipped_by?: string })[]; orders: { order: string; text?: string; by: { name: string } }[] };
}

const tasks: Task[] = [
  { id: 't1', description: 'Dump billing', tool_name: 'pg_dump', expected_outcome: 'A dump that restores' },
  { id: 't2', description: 'Restore into Postgres 17', tool_name: 'pg_restore' },
  { id: 't3', description: 'Switch the connection string', tool_name: 'vault' },
  { id: 't4', description: 'Drop the old cluster', tool_name: 'shell' },
];

/** An agent whose plans are confirmed, and the operator who does so. */
class Planner {
  constructor(
    readonly agent: Agent,
    readonly app: Console,
  ) {}

  get me(): Caller {
    return this.app.server.operator;
  }

  set(settings: object): Promise<unknown> {
    return this.me.call('PUT', '/api/settings', settings);
  }

  submit(session: string, message: string, more: object = {}): Promise<PlanStatus> {
    return this.agent.call('POST', '/api/plans', { session_id: session, message, tasks, ...more });
  }

  respond(session: string, body: object): Promise<PlanStatus> {
    return respondTo(this.me, session, body);
  }

  /** A plan that was confirmed as it was. */
  async confirmed(session: string, message: string, more: object = {}): Promise<string> {
    const { operation_id } = await this.submit(session, message, more);
    await this.respond(session, { action: 'confirm' });
    return operation_id;
  }

  progress(session: string, task: string, state: string, note?: string): Promise<{ go: boolean; why?: string; run: PlanStatus['run'] }> {
    return this.agent.call('POST', `/api/plans/${session}/progress`, { task_id: task, state, ...(note && { note }) });
  }

  status(session: string): Promise<PlanStatus> {
    return this.agent.call('GET', `/api/plans/${session}`);
  }
}

const test = base.extend<{ planner: Planner }>({
  planner: async ({ app, server }, use) => {
    const planner = new Planner(await server.agent('migrator'), app);
    await planner.set({ 'plan.confirm_by_human': true });
    await use(planner);
  },
});

const row = (app: Console, n: number): Locator => app.page.getByRole('list', { name: 'Tasks' }).first().getByRole('listitem').nth(n - 1);
const words = (app: Console): Locator => app.page.getByRole('textbox', { name: 'Note for migrator' });

test('a plan that runs stands under Running, and is followed task by task', async ({ app, page, planner }) => {
  await app.open('inbox');
  const id = await planner.confirmed('s1', 'Move billing to Postgres 17');
  await expect(page.getByRole('heading', { name: /Running/ })).toBeVisible();
  await expect(app.row(id)).toContainText('0 of 4');
  await app.row(id).getByRole('link').click();
  await expect(page.getByText('Confirmed. No task has started yet.')).toBeVisible();
  await planner.progress('s1', 't1', 'running');
  await expect(page.getByText('Task 1 is running.')).toBeVisible();
  await expect(row(app, 1)).toHaveAttribute('aria-current', 'step');
  await planner.progress('s1', 't1', 'done', '41.2 GB in 63 tables');
  await expect(row(app, 1)).toContainText('41.2 GB in 63 tables');
  await expect(app.row(id)).toContainText('1 of 4');
  await planner.progress('s1', 't2', 'running');
  await planner.progress('s1', 't2', 'failed', 'out of disk');
  await expect(row(app, 2)).toContainText('out of disk');
  await expect(row(app, 2)).toContainText(/failed after/);
  await expect(app.row(id)).toContainText('1 failed');
  await expect(page.getByRole('progressbar', { name: 'Progress' })).toHaveAttribute('aria-valuetext', '2 of 4 tasks ended');
  for (const task of ['t3', 't4']) {
    await planner.progress('s1', task, 'running');
    await planner.progress('s1', task, 'done');
  }
  await expect(page.getByText(/All tasks have ended, after/)).toBeVisible();
  await expect(page.getByText('3 of 4 done, 1 failed').first()).toBeVisible();
  await expect(page.getByRole('heading', { name: /Running/ })).toHaveCount(0);
  await expect(words(app)).toHaveCount(0);
  await expect(page.getByRole('region', { name: 'Timeline' })).toContainText('Task 2 failed: out of disk');
});

test.describe('orders', () => {
  test('pause and resume reach the agent, with words', async ({ app, page, planner }) => {
    const id = await planner.confirmed('s1', 'Move billing');
    await app.open(`inbox/${id}`);
    await words(app).fill('Until the backup has ended');
    await app.button(/^Pause/).click();
    await expect(page.getByText(/Paused by you at/).first()).toBeVisible();
    expect((await planner.progress('s1', 't1', 'running')).go).toBe(false);
    expect((await planner.status('s1')).run?.orders).toMatchObject([{ order: 'pause', text: 'Until the backup has ended', by: { name: 'mei' } }]);
    await expect(words(app)).toHaveValue('');
    await expect(page.getByText('“Until the backup has ended”')).toBeVisible();
    await page.locator('#operation-title').focus();
    await app.press('p');
    await expect(page.getByText('Confirmed. No task has started yet.')).toBeVisible();
    expect((await planner.progress('s1', 't1', 'running')).go).toBe(true);
  });

  test('a task is skipped that has not begun', async ({ app, planner }) => {
    const id = await planner.confirmed('s1', 'Move billing');
    await planner.progress('s1', 't1', 'running');
    await app.open(`inbox/${id}`);
    await expect(row(app, 1).getByRole('button')).toHaveCount(0);
    await app.button('Skip task 4: Drop the old cluster').click();
    await expect(row(app, 4)).toContainText('skipped by you');
    expect((await planner.status('s1')).run?.tasks[3]).toMatchObject({ state: 'skipped', skipped_by: 'mei' });
    expect(await planner.progress('s1', 't4', 'running')).toMatchObject({ go: false, why: 'skipped' });
  });

  test('stopping asks first, and starts on what changes nothing', async ({ app, page, planner }) => {
    const id = await planner.confirmed('s1', 'Move billing');
    await planner.progress('s1', 't1', 'running');
    await app.open(`inbox/${id}`);
    await app.button('Stop…').click();
    const dialog = page.getByRole('dialog', { name: 'Stop this plan?' });
    await expect(dialog).toContainText("3 waiting tasks won't run");
    await expect(dialog.getByRole('button', { name: 'Keep running' })).toBeFocused();
    await accessible(page);
    await app.press('Enter');
    await expect(dialog).toHaveCount(0);
    expect((await planner.status('s1')).run?.state).toBe('running');
    await app.button('Stop…').click();
    await dialog.getByRole('textbox').fill('The disk is full');
    await dialog.getByRole('button', { name: 'Stop plan' }).click();
    await expect(page.getByText(/Stopped by you at/)).toBeVisible();
    await expect(row(app, 2)).toContainText("didn't run");
    expect((await planner.status('s1')).run).toMatchObject({ state: 'stopped', orders: [{ order: 'stop', text: 'The disk is full' }] });
    expect(await planner.progress('s1', 't2', 'running')).toMatchObject({ go: false, why: 'stopped' });
  });

  test('what has not begun is changed: moved, reworded, added; the agent gets the new list', async ({ app, page, planner }) => {
    const id = await planner.confirmed('s1', 'Move billing');
    await planner.progress('s1', 't1', 'running');
    await app.open(`inbox/${id}`);
    await app.button(/^Change remaining tasks/).click();
    const rest = page.getByRole('region', { name: 'Remaining tasks' });
    await expect(rest).toContainText('Pause it first');
    // What is left goes by the numbers that it has in the whole plan.
    await expect(rest.locator('.no')).toHaveText([/2$/, /3$/, /4$/]);
    await expect(app.button('Send changes')).toBeDisabled();
    await rest.getByRole('button', { name: 'Drop the old cluster' }).focus();
    await app.press('Delete');
    await rest.getByRole('button', { name: 'Switch the connection string' }).focus();
    await app.press('Alt+ArrowUp');
    await app.press('n');
    await rest.getByRole('textbox', { name: 'Task', exact: true }).fill('Tell #billing');
    await app.press('Enter');
    await accessible(page);
    // One of them begins meanwhile: it cannot be changed any more.
    await planner.progress('s1', 't1', 'done');
    await planner.progress('s1', 't2', 'running');
    await expect(rest).toContainText('“Restore into Postgres 17” has started');
    await words(app).fill('Keep the old cluster');
    await app.press(`${mod}+Enter`);
    await expect(rest).toHaveCount(0);
    const { run } = await planner.status('s1');
    expect(run?.tasks.map(({ description, state }) => [description, state])).toEqual([['Dump billing', 'done'], ['Restore into Postgres 17', 'running'], ['Switch the connection string', 'waiting'], ['Tell #billing', 'waiting']]);
    expect(run?.orders).toMatchObject([{ order: 'change', text: 'Keep the old cluster' }]);
    await expect(page.getByText('You changed the remaining tasks').first()).toBeVisible();
    await expect(page.getByText('You removed “Drop the old cluster”, which was task 4')).toBeVisible();
  });

  test('that come too late say why, and keep the words', async ({ app, page, planner }) => {
    const id = await planner.confirmed('s1', 'Move billing');
    await app.open(`inbox/${id}`);
    await expect(app.button(/^Skip task 1/)).toBeVisible();
    await page.route('**/orders', async (route) => {
      await planner.progress('s1', 't1', 'running');
      await route.continue();
    });
    await words(app).fill('Not this one');
    await app.button(/^Skip task 1/).click();
    await expect(page.getByRole('alert')).toContainText('task t1 is running');
    await expect(words(app)).toHaveValue('Not this one');
    app.errors.length = 0; // a refused call is logged by the browser
  });
});

test('an agent that has gone is missed, and the plan can be stopped', async ({ app, page, planner }) => {
  const id = await planner.confirmed('s1', 'Move billing');
  await page.clock.install();
  await app.open(`inbox/${id}`);
  await expect(page.getByText('Confirmed. No task has started yet.')).toBeVisible();
  await page.clock.fastForward('02:00');
  await expect(page.getByText(/No contact with migrator since/)).toBeVisible();
  await expect(page.getByText('Nothing runs until it connects again.')).toBeVisible();
  await expect(app.row(id)).toContainText('disconnected');
});

test.describe('a plan that has ended', () => {
  test('shows what was changed, and what was said', async ({ app, page, planner }) => {
    const { operation_id: id } = await planner.submit('s1', 'Rename the orders table');
    await planner.respond('s1', { action: 'modify', modified_tasks: [...tasks.slice(0, 3), { description: 'test the rollback on a copy first', tool_name: 'shell' }], user_message: 'Copy first, please' });
    await app.open(`history/${id}`);
    await expect(page.getByText(/Confirmed with changes by mei at/)).toBeVisible();
    await expect(page.getByText('“Copy first, please”')).toBeVisible();
    const what = page.getByRole('region', { name: 'Confirmed plan' });
    await expect(what).toContainText('You added task 4: test the rollback on a copy first');
    await expect(what).toContainText('You removed “Drop the old cluster”, which was task 4');
    await accessible(page);
  });

  test('says who said what where several had to agree', async ({ app, page, planner, server }) => {
    const { operation_id: id } = await planner.submit('s1', 'Move billing', { confirmations: 2 });
    await planner.respond('s1', { action: 'confirm', user_message: 'Fine with me' });
    const { code } = await server.operator.call<{ code: string }>('POST', '/api/session/codes?operator=Ann');
    const ann = await server.signIn(code);
    await respondTo(ann, 's1', { action: 'confirm' });
    await app.open(`inbox/${id}`);
    const said = page.getByRole('region', { name: 'Answers' });
    await expect(said).toContainText(/mei\s*confirmed/);
    await expect(said).toContainText('“Fine with me”');
    await expect(said).toContainText(/Ann\s*confirmed/);
  });

  test('by itself, by its time limit, or by an operator: each in words', async ({ app, page, planner }) => {
    await planner.set({ 'plan.auto_confirm_safe_tasks': true });
    const safe = await planner.agent.call<PlanStatus>('POST', '/api/plans', { session_id: 'safe', message: 'Look around', tasks: [{ description: 'List the files', tool_name: 'shell', args: { command: 'ls -la' } }] });
    const late = (await planner.submit('late', 'Clear the caches', { timeout_seconds: 1 })).operation_id;
    const no = (await planner.submit('no', 'Rotate the keys')).operation_id;
    await planner.respond('no', { action: 'cancel', user_message: 'Not while the release is under way' });
    await planner.me.until(late, (op) => op.state === 'cancelled');
    await app.open('history');
    const hit = (id: string): Locator => page.locator(`a[href="#/history/${id}"]`);
    await expect(hit(safe.operation_id)).toContainText('confirmed automatically');
    await expect(hit(late)).toContainText('Timed out');
    await expect(hit(late)).toContainText('timed out');
    await expect(hit(no)).toContainText('Not while the release is under way');
    await hit(safe.operation_id).click();
    await expect(page.getByText(/Confirmed automatically at/)).toBeVisible();
    await expect(page.getByText(/settings confirm such plans automatically/)).toBeVisible();
    await app.go(`history/${late}`);
    await expect(page.getByText(/so it was canceled/)).toBeVisible();
    await expect(page.getByText('No task ran.')).toBeVisible();
  });
});

test('history has figures of plans', async ({ app, page, planner }) => {
  for (const [session, extra] of [['a', 'Restore on a copy'], ['b', 'Restore on a copy']] as const) {
    await planner.submit(session, `Move ${session}`);
    await planner.respond(session, { action: 'modify', modified_tasks: [...tasks, { description: extra, tool_name: 'shell' }] });
    await planner.progress(session, 't1', 'running');
    await planner.progress(session, 't1', 'done');
  }
  await planner.confirmed('c', 'Move c');
  await planner.submit('d', 'Move d');
  await planner.respond('d', { action: 'cancel' });
  await app.open('history');
  await app.button('Plans').click();
  await expect(page.getByRole('heading', { name: 'Answers' })).toBeVisible();
  await expect(page.getByText('25%')).toBeVisible();
  await expect(page.getByRole('img', { name: '4 plans in 30 days, at most 4 on one day' })).toBeVisible();
  const usual = page.getByRole('region', { name: 'Most common changes' });
  await expect(usual).toContainText(/Adds\s*Restore on a copy\s*2 plans/);
  await expect(page.getByRole('region', { name: 'Task duration' }).getByRole('row', { name: /pg_dump/ })).toContainText('2');
  await expect(page.locator('.table a.hit')).toHaveCount(4);
  // Plans are found by how they ended; other kinds by theirs.
  const outcome = page.getByRole('combobox', { name: 'Outcome' });
  for (const [how, n] of [['changed', 2], ['confirmed', 1], ['canceled', 1], ['timed out', 0], ['All outcomes', 4]] as const) {
    await choose(outcome, { label: how });
    await expect(page.locator('.table a.hit')).toHaveCount(n);
  }
  await accessible(page);
  await resize(page, 480, 800);
  await fits(page);
});

test('presets are made, changed and deleted in the settings', async ({ app, page, planner }) => {
  await app.open('settings');
  const box = page.getByRole('region', { name: 'Plan presets' });
  await expect(box).toContainText('No presets.');
  await box.getByRole('button', { name: 'New preset…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Save preset' }).click();
  await expect(dialog.getByRole('alert')).toContainText('Enter a name.');
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Database move');
  await dialog.getByRole('textbox', { name: 'Task 1: Description' }).fill('Switch over');
  await dialog.getByRole('button', { name: 'Add task' }).click();
  await page.keyboard.type('Restore on a copy');
  await dialog.getByRole('button', { name: 'Move task 2 up' }).click();
  await accessible(page);
  await dialog.getByRole('button', { name: 'Save preset' }).click();
  await expect(dialog).toHaveCount(0);
  await expect(box).toContainText('2 tasks: Restore on a copy · Switch over');
  const list = async (): Promise<{ name: string; tasks: Task[] }[]> => (await planner.me.call<{ presets: { name: string; tasks: Task[] }[] }>('GET', '/api/plan-presets')).presets;
  expect((await list()).map(({ name, tasks: of }) => [name, of.length])).toEqual([['Database move', 2]]);
  await box.getByRole('button', { name: 'Edit preset “Database move”' }).click();
  await dialog.getByRole('textbox', { name: 'Name' }).fill('Move of a database');
  await dialog.getByRole('button', { name: 'Remove task 2' }).click();
  await dialog.getByRole('button', { name: 'Save preset' }).click();
  await expect(box).toContainText('Move of a database');
  expect((await list()).map(({ name, tasks: of }) => [name, of.length])).toEqual([['Move of a database', 1]]);
  await box.getByRole('button', { name: 'Delete preset “Move of a database”' }).click();
  await expect(dialog.getByRole('button', { name: 'Keep preset' })).toBeFocused();
  await dialog.getByRole('button', { name: 'Delete preset' }).click();
  await expect(box).toContainText('No presets.');
  expect(await list()).toEqual([]);
});

test('another operator is signed in by name', async ({ app, page, server, bot, browser }) => {
  await app.open('settings');
  const box = page.getByRole('region', { name: 'Sign in another person' });
  const name = box.getByRole('textbox', { name: 'Their name' });
  await name.fill('mei');
  await expect(box).toContainText('This is your own name');
  await expect(box.getByRole('button', { name: 'Create link' })).toBeDisabled();
  await name.fill('Ann');
  await box.getByRole('button', { name: 'Create link' }).click();
  await expect(box.getByRole('status')).toContainText('For Ann');
  const link = (await box.getByText(/#code=/).textContent()) ?? '';
  // Where something rings, nobody is led through the first steps.
  const op = await bot.ring({ description: 'Deploy', details: { action: 'make deploy' } });
  const other = await browser.newPage();
  await other.goto(link);
  await expect(other.getByRole('navigation')).toBeVisible();
  await other.evaluate((to) => (window.location.hash = `#/inbox/${to}`), op.operation_id);
  await expect(other.locator('.arming').first()).toHaveAttribute('aria-hidden', 'true');
  await other.getByRole('button', { name: /^Approve/ }).click();
  const done = await server.operator.until(op.operation_id, (o) => o.state === 'completed');
  expect(done.result?.by.name).toBe('Ann');
  await other.close();
});
