import type { Locator } from '@playwright/test';
import { McpClient } from './support/mcp';
import { accessibleInBothThemes, expect, mod, test, type Console } from './support/test';

test.use({ flags: ['--set', 'human.undo_seconds=5', '--set', 'ui.auto_advance=true'] });

interface Result {
  status: string;
  operation_id: string;
  human_input?: string;
}

const toast = (app: Console): Locator => app.page.locator('.toast');
const answer = (app: Console): Locator => app.page.getByRole('textbox', { name: 'Your answer' });
const question = (description: string, priority = 5) => ({ action_type: 'feedback', description, priority });
const approval = (description: string, risk_level: string, priority = 5) => ({ description, priority, details: { action: `deploy ${description}`, risk_level } });

async function send(app: Console, words: string): Promise<void> {
  await answer(app).fill(words);
  await app.armed();
  await app.press(`${mod}+Enter`);
}

test('an answer is undone before it leaves: the agent waits over MCP, and gets the second one', async ({ app, bot }) => {
  const mcp = await McpClient.connect(bot);
  const { operation_id: id } = await mcp.human<Result>({ action: 'invoke', action_type: 'feedback', description: 'Which name?', wait_seconds: 0 });
  const check = () => mcp.human<Result>({ action: 'check_result', operation_id: id });
  await app.open();
  await app.openOperation(id);
  await send(app, 'Harbour');
  await expect(toast(app)).toContainText('Answered: sent to release-bot in a moment');
  await expect(app.page.getByText('Until then you can undo it.')).toBeVisible();
  expect(JSON.stringify(await check())).not.toContain('Harbour');
  expect((await bot.operation(id)).state).not.toBe('completed');
  await toast(app).getByRole('button', { name: 'Undo' }).click();
  await expect(toast(app)).toContainText('Undone. Your answer is a draft again.');
  await expect(answer(app)).toHaveValue('Harbour');
  // The time of the first answer passes, and nothing is sent.
  await expect(toast(app)).toHaveCount(0, { timeout: 10_000 });
  expect((await bot.operation(id)).result).toBeUndefined();

  await send(app, 'Pier');
  await expect(toast(app)).toContainText('in a moment');
  const op = await bot.until(id, (o) => o.state === 'completed');
  expect(op.result?.human_input).toBe('Pier');
  expect((await check()).human_input).toBe('Pier');
  await expect(toast(app)).toContainText('Answered: sent to release-bot');
  await expect(toast(app).getByRole('button', { name: 'Undo' })).toHaveCount(0);
});

test('a server that is killed sends what it held when it runs again', async ({ app, bot, server }) => {
  const op = await bot.ring(question('Which name?'));
  await app.open();
  await app.openOperation(op.operation_id);
  await send(app, 'Harbour');
  await expect(toast(app)).toContainText('in a moment');
  await server.stop('SIGKILL');
  await server.again();
  expect((await bot.until(op.operation_id, (o) => o.state === 'completed')).result?.human_input).toBe('Harbour');
  app.errors.length = 0; // of the server that was away
});

test('the next request opens, and undo by the keyboard goes back; what is risky is sent at once', async ({ app, bot, page }) => {
  const low = await bot.ring(approval('docs', 'low', 9));
  const next = await bot.ring(question('Which name?', 8));
  const medium = await bot.ring(approval('api', 'medium', 7));
  await app.open();
  await app.openOperation(low.operation_id);
  await app.press('a');
  await expect(page).toHaveURL(new RegExp(next.operation_id));
  await expect(toast(app)).toContainText('Approved: sent to release-bot in a moment');
  await app.armed();
  await accessibleInBothThemes(page);

  // In a text field the key writes.
  await answer(app).fill('quay');
  await app.press('z');
  await expect(answer(app)).toHaveValue('quayz');
  await app.press('Escape', 'z');
  await expect(page).toHaveURL(new RegExp(low.operation_id));
  expect((await bot.operation(low.operation_id)).result).toBeUndefined();

  await app.armed();
  await app.press('a');
  // The one with a draft is begun and does not ring.
  await expect(page).toHaveURL(new RegExp(medium.operation_id));
  await app.armed();
  await app.button('Approve').click();
  await expect(toast(app)).toContainText('Approved: release-bot continues');
  expect((await bot.operation(medium.operation_id)).result?.decision).toBe('approve');
  expect((await bot.until(low.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
});

test('a decline is undone before it leaves, by the keyboard, and its reason is kept', async ({ app, bot, page }) => {
  const op = await bot.ring(question('Which name?'));
  const reason = page.getByRole('textbox', { name: 'Reason' });
  await app.open();
  await app.openOperation(op.operation_id);
  await answer(app).fill('Harb');
  await app.press('Escape');
  await app.armed();
  await app.press('d');
  await reason.fill('Not my desk');
  await app.press(`${mod}+Enter`);
  await expect(toast(app)).toContainText('Declined: sent to release-bot in a moment');
  await expect(page.getByText('release-bot gets the reason in a moment. Until then you can undo it.')).toBeVisible();
  await expect(page.getByText('Not my desk')).toBeVisible();
  await accessibleInBothThemes(page);
  expect(JSON.stringify(await bot.operation(op.operation_id))).not.toContain('desk');
  await page.locator('body').press('z');
  await expect(toast(app)).toContainText('Undone. The request is open again.');
  await expect(answer(app)).toHaveValue('Harb');
  await page.locator('body').press('d');
  await expect(reason).toHaveValue('Not my desk');
  await app.press(`${mod}+Enter`);
  const ended = await bot.until(op.operation_id, (o) => o.state === 'declined');
  expect(ended.ended?.reason).toBe('Not my desk');
  await expect(toast(app)).toContainText('Declined: sent to release-bot');
  await expect(toast(app).getByRole('button', { name: 'Undo' })).toHaveCount(0);
});

test('several that were declined together are undone together', async ({ app, bot, page }) => {
  const all = await Promise.all(['One', 'Two'].map((name) => bot.ring(question(name))));
  await app.open();
  for (const op of all) await app.row(op.operation_id).getByRole('checkbox').check({ force: true });
  await app.armed();
  await app.button('Decline all…').click();
  await page.getByRole('textbox', { name: 'Reason' }).fill('Not now');
  await app.press(`${mod}+Enter`);
  await expect(toast(app)).toContainText('2 requests are declined in a moment');
  await page.locator('body').press('z');
  await expect(toast(app)).toContainText('Undone. 2 requests are open again.');
  for (const op of all) expect((await bot.operation(op.operation_id)).ended).toBeUndefined();
});

test('a card that was declined stays while that can be undone', async ({ bot, page, server }) => {
  const op = await bot.ring({ action_type: 'bash', description: 'Rotate the key' });
  const { code } = await server.invite();
  await page.goto(`${server.url}/?view=popup#code=${code}`);
  const card = page.getByRole('article');
  await card.getByRole('button', { name: /^Decline/ }).click();
  await card.getByRole('textbox', { name: 'Reason' }).fill('No access');
  await card.getByRole('button', { name: 'Decline', exact: true }).click();
  await expect(card).toContainText('Declined: sent to release-bot in a moment');
  await card.getByRole('button', { name: 'Undo' }).click();
  await card.getByRole('button', { name: /^Decline/ }).click();
  await expect(card.getByRole('textbox', { name: 'Reason' })).toHaveValue('No access');
  expect((await bot.operation(op.operation_id)).ended).toBeUndefined();
  await card.getByRole('button', { name: 'Decline', exact: true }).click();
  expect((await bot.until(op.operation_id, (o) => !!o.ended)).ended?.reason).toBe('No access');
  await expect(card).toHaveCount(0);
});

test('several that were answered together are undone together', async ({ app, bot, page }) => {
  const all = await Promise.all(['One', 'Two'].map((name) => bot.ring(approval(name, 'low'))));
  await app.open();
  for (const op of all) await app.row(op.operation_id).getByRole('checkbox').check({ force: true });
  await app.armed();
  await app.button('Approve all 2').click();
  await expect(toast(app)).toContainText('2 answers are sent in a moment');
  await page.locator('body').press('z');
  await expect(toast(app)).toContainText('Undone. 2 answers are drafts again.');
  for (const op of all) expect((await app.server.operator.operation(op.operation_id)).state).toBe('in_progress');
});

test('an agent that cancels meanwhile gets nothing, and nothing that was written is lost', async ({ app, bot, page }) => {
  const op = await bot.ring(question('Which name?'));
  await app.open();
  await app.openOperation(op.operation_id);
  await send(app, 'Harbour');
  await expect(toast(app)).toContainText('in a moment');
  await bot.cancel(op.operation_id, 'found it');
  await expect(toast(app)).toContainText('release-bot canceled the request. Your answer is kept as a draft.');
  await expect(page.getByText('Harbour')).toBeVisible();
  expect((await bot.operation(op.operation_id)).state).toBe('cancelled');
});

test('a card stays while its answer can be undone', async ({ bot, page, server }) => {
  const op = await bot.ring(approval('docs', 'low'));
  const { code } = await server.invite();
  await page.goto(`${server.url}/?view=popup#code=${code}`);
  const card = page.getByRole('article');
  await card.getByRole('button', { name: 'Approve' }).click();
  await expect(card).toContainText('Approved: sent to release-bot in a moment');
  await card.getByRole('button', { name: 'Undo' }).click();
  await expect(card.getByRole('button', { name: 'Approve' })).toBeVisible();
  expect((await bot.operation(op.operation_id)).result).toBeUndefined();
  await card.getByRole('button', { name: 'Approve' }).click();
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
  await expect(card).toHaveCount(0);
});
