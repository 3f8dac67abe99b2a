import path from 'node:path';
import { Journal } from './support/journal';
import { accessible, expect, fits, resize, test as base } from './support/test';

const id = 'run_01kafe2e';

const test = base.extend<{ journal: Journal }>({
  journal: async ({ server }, use) => {
    const journal = new Journal(path.join(server.dir, 'agents'), id);
    await use(journal);
    await journal.die();
  },
});

const tasks = [{ id: 't1', description: 'Find the failing test', tool_name: 'shell' }, { id: 't2', description: 'Mend it', tool_name: 'write_file' }, { id: 't3', description: 'Run the tests again', tool_name: 'shell' }];
const spent = { steps: 2, tokens_in: 12_400, tokens_out: 830, time_ns: 42e9, money: 0.12 };

test('says what to do while no run was made', async ({ app, page }) => {
  await app.open('agents/runs');
  const box = page.getByRole('region', { name: /^Runs/ });
  await expect(box).toContainText('No runs yet');
  await expect(box.getByText('deskbell agent run "')).toBeVisible();
  await accessible(page);
});

test('a run is read along: what it thinks, plans, calls and comes to', async ({ app, page, journal }) => {
  await journal.begin('Find the failing test and mend it');
  await journal.tell({ state: 'reasoning', content: 'Looking at the folder' });
  await app.open('agents/runs');
  const row = page.locator(`a[data-run="${id}"]`);
  await expect(row).toContainText('Find the failing test and mend it');
  await expect(row).toContainText('Thinking');
  await row.click();
  await expect(page.getByRole('heading', { name: 'Find the failing test and mend it' })).toBeVisible();
  await expect(page.getByText('small-1')).toBeVisible();
  const log = page.getByRole('log', { name: 'Activity' });
  const plan = page.getByRole('region', { name: 'Plan' });
  await expect(plan).toContainText('No plan yet.');
  await journal.tell({ type: 'task_plan', state: 'executing', content: 'A plan', plan: { status: 'confirmed', auto: 'off', tasks } });
  await expect(plan).toContainText('plan confirmation is off');
  await journal.tell({ type: 'task_init', task_id: 't1', tool: 'shell', content: 'Find the failing test' });
  await expect(plan.getByRole('listitem').nth(0)).toHaveAttribute('aria-current', 'step');
  await journal.tell({ task_id: 't1', tool: 'shell', call: 'go test ./...', outcome: 'failed', content: 'FAIL: TestSum' });
  await journal.tell({ task_id: 't1', tool: 'shell', call: 'rm -rf /', outcome: 'refused', content: 'refused: not this' });
  await journal.tell({ type: 'sub_task_result', task_id: 't1', tool: 'shell', outcome: 'done', content: 'TestSum fails: 2 + 2 is 5', spent });
  await expect(log).toContainText('go test ./...');
  await expect(log.locator('li').filter({ hasText: 'rm -rf /' })).toContainText('denied');
  await expect(plan.getByRole('listitem').nth(0)).toContainText('done');
  const use = page.getByRole('region', { name: 'Usage' });
  await expect(use).toContainText('1 failed · 1 denied');
  await expect(use).toContainText('2 of 100');
  await expect(use).toContainText('12,400');
  await accessible(page);
  // What a model says is text: nothing of it is run or fetched.
  await journal.tell({ type: 'final_result', state: 'completed', content: 'Mended **TestSum**. <img src=x onerror="window.owned = 1">' });
  await journal.die();
  await expect(log).toContainText('Mended TestSum.');
  await expect(page.locator('header').getByText('Completed', { exact: true })).toBeVisible();
  expect(await page.evaluate(() => 'owned' in window)).toBe(false);
  await resize(page, 480, 800);
  await fits(page);
  await app.press('Escape');
  await expect(row).toBeFocused();
});

test('a run whose process has gone says how it is resumed, and goes on when it is', async ({ app, page, journal }) => {
  await journal.begin('Mend it');
  await journal.tell({ content: 'Working' });
  await app.open(`agents/${id}`);
  await expect(page.getByText('Working', { exact: true }).first()).toBeVisible();
  await journal.die();
  await expect(page.getByText(`deskbell agent resume ${id}`)).toBeVisible();
  await expect(page.getByText('Interrupted', { exact: true })).toBeVisible();
  await journal.live();
  await journal.tell({ content: 'Going on' });
  await expect(page.getByRole('log')).toContainText('Going on');
  await expect(page.getByText(`deskbell agent resume ${id}`)).toHaveCount(0);
});

test('a run that failed says how it is resumed, unless an operator ended it', async ({ app, page, journal }) => {
  await journal.begin('Mend it');
  await journal.tell({ type: 'error', state: 'failed', content: 'Its limit of 100 calls is reached.' });
  await journal.end(false);
  await app.open(`agents/${id}`);
  await expect(page.getByText('Its limit of 100 calls is reached.').first()).toBeVisible();
  await journal.die();
  await expect(page.getByText(`deskbell agent resume ${id}`)).toBeVisible();
  await expect(page.getByText('It ended before the task was completed.')).toBeVisible();
  await expect(page.getByText('Interrupted')).toHaveCount(0);
  await accessible(page);
  await journal.end(true);
  await app.page.reload();
  await expect(page.getByText('Its limit of 100 calls is reached.').first()).toBeVisible();
  await expect(page.getByText(`deskbell agent resume ${id}`)).toHaveCount(0);
});

test('what it asked people is linked, and what waits is said first', async ({ app, page, journal, server }) => {
  await journal.begin('Mend it');
  const agent = await server.agent('deskbell-agent');
  const first = await agent.ring({ action_type: 'feedback', description: 'Which test is meant?', session_id: id });
  await journal.tell({ content: 'Asked' });
  await app.open(`agents/${id}`);
  await expect(page.getByText('Waiting for you.')).toBeVisible();
  await server.operator.call('POST', '/api/human/complete', { operation_id: first.operation_id, digest: first.digest, human_input: 'TestSum' });
  await expect(page.getByText('Waiting for you.')).toHaveCount(0);
  const asked = page.getByRole('region', { name: 'Requests' });
  await expect(asked.getByRole('link', { name: /Which test is meant/ })).toHaveAttribute('href', `#/history/${first.operation_id}`);
  await asked.getByRole('link', { name: /Which test is meant/ }).click();
  await expect(page.locator('#operation-title')).toContainText('Which test is meant?');
});

test('a run that is not there is said to be so', async ({ app, page }) => {
  await app.open('agents/run_nothing');
  await expect(page.getByRole('heading', { name: 'Run not found' })).toBeVisible();
  app.errors.length = 0; // a refused call is logged by the browser
});
