import { Console, expect, mod, test } from './support/test';

const deploy = { description: 'Deploy 2.14 to staging?', details: { action: 'make deploy', risk_level: 'low' } };

test('a draft survives a reload', async ({ app, bot, page }) => {
  const op = await bot.ring(deploy);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.reason.fill('Only if the tests are green');
  await page.reload();
  await expect(app.reason).toHaveValue('Only if the tests are green');
  await expect(page.getByText(/Draft saved \d\d:\d\d:\d\d/)).toBeVisible();
  await expect(app.row(op.operation_id)).toContainText('Draft');
});

test('a draft survives a crash of the server', async ({ app, bot, page, server, browser }) => {
  const op = await bot.ring({ action_type: 'feedback', description: 'Which name?' });
  await app.open();
  await app.openOperation(op.operation_id);
  await page.getByRole('textbox', { name: 'Your answer' }).or(page.getByRole('textbox', { name: /words/ })).first().fill('Call it Deskbell');
  await expect(page.getByText(/Draft saved \d/)).toBeVisible();
  await server.stop('SIGKILL');
  await server.again();
  const other = new Console(await (await browser.newContext()).newPage(), server);
  await other.open(`inbox/${op.operation_id}`);
  await expect(other.page.getByRole('textbox', { name: 'Your answer' }).or(other.page.getByRole('textbox', { name: /words/ })).first()).toHaveValue('Call it Deskbell');
  await other.page.context().close();
  app.errors.length = 0; // a broken line logs errors of its own
});

test('of two browsers the slower is told who decided, and keeps what was typed', async ({ app, bot, page, server, browser }) => {
  const op = await bot.ring(deploy);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.reason.fill('No, the window is closed');
  await expect(page.getByText(/Draft saved \d/)).toBeVisible();
  const other = new Console(await (await browser.newContext()).newPage(), server);
  await other.open();
  await other.openOperation(op.operation_id);
  // The other answers while this one's answer is on its way.
  await page.route('**/api/human/complete', async (route) => {
    await other.button('Approve').click();
    await bot.until(op.operation_id, (o) => !!o.result);
    await route.continue();
  });
  await app.button('Deny with reason').click();
  await expect(page.getByText(/Not sent:/)).toContainText('completed by mei');
  await expect(page.getByText(/Approved by/).first()).toBeVisible();
  await expect(page.locator('pre', { hasText: 'No, the window is closed' })).toBeVisible();
  expect((await bot.operation(op.operation_id)).result?.decision).toBe('approve');
  await app.button('Send as a message').click();
  await expect.poll(async () => (await bot.operation(op.operation_id)).messages.at(-1)?.text).toBe('No, the window is closed');
  await other.page.context().close();
  app.errors.length = 0; // a refused call is logged by the browser
});

test('in Chinese the server says in Chinese why it does not take an answer', async ({ app, bot, page, server }) => {
  const op = await bot.ring(deploy);
  await page.addInitScript(() => localStorage.setItem('deskbell.language', 'zh-CN'));
  await app.open();
  await app.openOperation(op.operation_id);
  // Another console's answer comes first.
  await page.route('**/api/human/complete', async (route) => {
    await server.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, digest: op.digest, decision: 'deny', human_input: 'No' });
    await route.continue();
  });
  await app.button('批准').click();
  const refused = page.getByText(/^未发送：/);
  await expect(refused).toContainText(`操作 ${op.operation_id} 已由 `);
  const words = ((await refused.textContent()) ?? '').replace(op.operation_id, '').replace('mei', '');
  expect(words).not.toMatch(/[A-Za-z]{2}/);
  app.errors.length = 0; // a refused call is logged by the browser
});

test('an answer after the time limit is taken, and says that it waits for the agent', async ({ app, bot, page }) => {
  const op = await bot.ring({ ...deploy, timeout: 1 });
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(app.row(op.operation_id)).toContainText('Overdue');
  await expect(page.getByText(/Overdue \d+ s/)).toBeVisible();
  await app.button('Approve').click();
  await expect(page.getByText("release-bot hasn't read it yet")).toBeVisible();
  const answered = await bot.operation(op.operation_id);
  expect([answered.state, answered.overdue, answered.result?.decision]).toEqual(['completed', true, 'approve']);
  await expect(page.getByText(/Delivered to release-bot/)).toBeVisible();
});

test('a ring that ends at its time limit keeps what was typed', async ({ app, bot, page }) => {
  const op = await bot.ring({ ...deploy, timeout: 12, on_timeout: 'cancel' });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.reason.fill('Wait for me');
  await expect(page.getByText(/Timed out at/)).toBeVisible({ timeout: 20_000 });
  await expect(page.getByText('Wait for me')).toBeVisible();
});

test('cancelled while somebody types: said at once, nothing lost', async ({ app, bot, page }) => {
  const op = await bot.ring(deploy);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.reason.fill('I would rather');
  await bot.cancel(op.operation_id, 'The branch was deleted');
  await expect(page.getByText(/^Canceled by release-bot at/)).toBeVisible();
  await expect(page.getByText('The branch was deleted')).toBeVisible();
  await expect(page.getByText('I would rather')).toBeVisible();
  await expect(app.button('Approve')).toHaveCount(0);
  await app.press('a', `${mod}+Shift+A`);
  expect((await bot.operation(op.operation_id)).state).toBe('cancelled');
});
