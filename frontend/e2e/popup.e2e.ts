import type { Page } from '@playwright/test';
import type { Server } from './support/server';
import { expect, resize, test } from './support/test';
import { calls, emit, inWindow } from './support/window';

const risky = { description: 'Roll out api 2.14.0', details: { action: 'kubectl apply -f prod.yaml', risk_level: 'high' } };
const harmless = { description: 'Run the end-to-end tests', details: { action: 'npm run e2e', risk_level: 'low' } };
const question = { action_type: 'feedback', description: 'Which tone?', details: { options: ['Plain list', 'Short story first', 'Upgrade steps only'] } };

/** The popup as a page of a browser. */
async function popup(server: Server, page: Page): Promise<void> {
  await resize(page, 448, 900);
  const { code } = await server.invite();
  await page.goto(`${server.url}/?view=popup#code=${code}`);
}

test('cards stack, the most urgent on top, the rest in one line', async ({ server, bot, page }) => {
  await bot.ring({ ...harmless, description: 'Ordinary', priority: 5 });
  await bot.ring({ ...risky, description: 'Urgent', priority: 9 });
  for (const n of [1, 2]) await bot.ring({ ...question, description: `Later ${n}`, priority: 1 });
  await popup(server, page);
  await expect(page.getByRole('article')).toHaveCount(2);
  await expect(page.getByRole('article').first()).toContainText('Urgent');
  await expect(page.getByRole('button', { name: /2 more/ })).toBeVisible();
});

test('answers are dead for half a second, again when a card moves', async ({ server, bot, page }) => {
  await bot.ring({ ...harmless, description: 'Below' });
  await popup(server, page);
  const below = page.getByRole('article', { name: 'Below' });
  await expect(below.getByRole('button', { name: 'Approve' })).toBeEnabled();
  // The page's clock stands still, so that the half second is not over before it was looked at.
  await page.clock.install();
  await page.clock.pauseAt(Date.now() + 10_000);
  await bot.ring({ ...harmless, description: 'Above', priority: 9 });
  await expect(page.getByRole('article', { name: 'Above' })).toBeVisible();
  await expect(below.getByRole('button', { name: 'Approve' })).toBeDisabled();
  await page.clock.runFor(1000);
  await expect(below.getByRole('button', { name: 'Approve' })).toBeEnabled();
});

test('a low risk is approved with one click, and the card goes', async ({ server, bot, page }) => {
  const { operation_id: id } = await bot.ring(harmless);
  await popup(server, page);
  await page.getByRole('button', { name: 'Approve' }).click();
  await bot.until(id, (o) => o.result?.decision === 'approve');
  await expect(page.getByRole('article')).toHaveCount(0);
});

test('a denial on a card asks for its reason there', async ({ server, bot, page }) => {
  const { operation_id: id } = await bot.ring(risky);
  await popup(server, page);
  await page.getByRole('button', { name: 'Deny…' }).click();
  await expect(page.getByLabel('Reason')).toBeFocused();
  await page.keyboard.type('Not today');
  await expect(page.getByText('Draft saved')).toBeVisible(); // a click while that comes up may be lost on a slow machine
  await page.getByRole('button', { name: 'Deny', exact: true }).click();
  await bot.until(id, (o) => o.result?.decision === 'deny' && o.result.human_input === 'Not today');
});

test('a question is answered on its card', async ({ server, bot, page }) => {
  const { operation_id: id } = await bot.ring(question);
  await popup(server, page);
  await page.getByRole('button', { name: 'Short story first' }).click();
  await page.getByRole('button', { name: 'Send' }).click();
  await bot.until(id, (o) => o.result?.human_input === 'Short story first');
});

test('a question is answered on its card by keys: a number chooses, then Enter sends', async ({ server, bot, page }) => {
  const { operation_id: id } = await bot.ring(question);
  await popup(server, page);
  await expect(page.getByRole('button', { name: 'Short story first' })).toBeEnabled();
  await page.keyboard.press('2');
  await expect(page.getByRole('button', { name: 'Send' })).toBeEnabled();
  await page.keyboard.press('Enter');
  await bot.until(id, (o) => o.result?.human_input === 'Short story first');
});

test('somebody faster is named, and what was typed is kept', async ({ server, bot, page }) => {
  const op = await bot.ring(question);
  await popup(server, page);
  await page.getByLabel('Reply in your own words').fill('My words');
  await expect(page.getByText('Draft saved')).toBeVisible();
  const other = await server.signIn((await server.invite()).code);
  await other.call('POST', '/api/human/complete', { operation_id: op.operation_id, human_input: 'Their words' });
  await expect(page.getByText('Answered by mei')).toContainText('Their words');
  await expect(page.getByText('Your text is saved as a draft')).toBeVisible();
  await page.getByRole('button', { name: 'Send as a message' }).click();
  await bot.until(op.operation_id, (o) => o.messages.at(-1)?.text === 'My words');
});

test('in the desktop a ring makes the hidden window a popup, and its end hides it', async ({ server, bot, page }) => {
  await inWindow(server, page);
  const { operation_id: id } = await bot.ring(harmless);
  await expect(page.getByRole('article')).toBeVisible();
  await expect.poll(() => calls(page, 'Mode')).toContainEqual(['Mode', 'popup', expect.any(Number)]);
  await bot.cancel(id, 'x');
  await page.getByRole('button', { name: 'Hide' }).click();
  await expect.poll(async () => (await calls(page, 'Mode')).at(-1)).toEqual(['Mode', 'hidden', 0]);
});

test('a card that nobody sees gets a notification, and one that was seen gets none', async ({ server, bot, page }) => {
  await server.operator.call('PUT', '/api/settings', { 'notifications.after': 2 });
  /** How a request reached the operator: each channel, and whether it was seen there. */
  const reached = async (id: string): Promise<[string, boolean][]> =>
    ((await server.operator.call<{ deliveries?: { channel: string; seen?: string }[] }>('GET', `/api/human/operations/${id}`)).deliveries ?? []).map((d) => [d.channel, !!d.seen]);
  await inWindow(server, page);
  const seen = await bot.ring(harmless);
  // A pointer that is over the card has seen nothing, until it moves.
  await page.getByRole('article').hover();
  await expect.poll(() => reached(seen.operation_id)).toEqual([['card', false]]);
  await page.getByRole('article').hover({ position: { x: 40, y: 20 } });
  await expect.poll(() => reached(seen.operation_id)).toEqual([['card', true]]);
  await page.mouse.move(0, 899);
  const { operation_id: id } = await bot.ring(risky);
  await expect(page.getByRole('article')).toHaveCount(2);
  expect(await calls(page, 'Notify')).toHaveLength(0);
  await expect.poll(() => calls(page, 'Notify')).toEqual([['Notify', expect.objectContaining({ id })]]);
  await expect.poll(() => reached(id)).toEqual([['card', false], ['notification', false]]);
  expect(await reached(seen.operation_id)).toEqual([['card', true]]);
  await bot.cancel(id, 'x');
  await expect.poll(() => calls(page, 'Dismiss')).toEqual([['Dismiss', id]]);
});

test('the inbox in front is enough; behind other windows a request comes as a notification at once', async ({ server, bot, page }) => {
  await inWindow(server, page);
  await emit(page, 'mode', 'console');
  await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  await bot.ring(harmless);
  await expect(page.getByRole('link', { name: harmless.description })).toBeVisible();
  await page.evaluate(() => {
    document.hasFocus = () => false;
    window.dispatchEvent(new Event('blur'));
  });
  const { operation_id: id } = await bot.ring(risky);
  await expect.poll(() => calls(page, 'Notify')).toEqual([['Notify', expect.objectContaining({ id })]]);
});

test('the keys that come to the popup press nothing', async ({ server, bot, page }) => {
  await inWindow(server, page);
  const { operation_id: id } = await bot.ring(risky);
  await expect(page.getByRole('button', { name: 'Approve' })).toBeEnabled();
  await emit(page, 'keys');
  await expect(page.getByRole('article')).toBeFocused();
  await page.keyboard.press('Space');
  // Once the keys count, Enter opens the operation in the console: the answer is still to be given.
  await expect(async () => {
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'What will run' })).toBeVisible({ timeout: 200 });
  }).toPass();
  expect((await bot.operation(id)).state).not.toBe('completed');
});

test('a click on a notification opens the operation', async ({ server, bot, page }) => {
  await inWindow(server, page);
  const { operation_id: id } = await bot.ring(risky);
  await expect(page.getByRole('article')).toBeVisible();
  await emit(page, 'mode', 'console');
  await emit(page, 'open', id);
  await expect(page.getByRole('heading', { name: 'What will run' })).toBeVisible();
});
