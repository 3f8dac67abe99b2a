import { accessibleInBothThemes, choose, expect, mod, test } from './support/test';

const approve = (description: string, risk_level = 'low') => ({ description, details: { action: `run ${description}`, risk_level } });

test('a whole answer without a mouse', async ({ app, bot, page }) => {
  const first = await bot.ring(approve('First'));
  const second = await bot.ring(approve('Second'));
  await app.open();
  await expect(app.row(second.operation_id)).toBeVisible();
  await app.press('j');
  await expect(app.row(first.operation_id).getByRole('link')).toBeFocused();
  await app.press('j');
  await expect(page.locator('#operation-title')).toHaveText('Second');
  await app.press('k', 'j', 'Enter');
  await expect(page.locator('#operation-title')).toBeFocused();
  await app.armed();
  await app.press('e');
  await expect(app.reason).toBeFocused();
  await page.keyboard.type('ad d'); // keys rest while somebody types
  await app.press('Escape');
  await expect(app.reason).not.toBeFocused();
  await expect(page.getByText(/Draft saved \d/)).toBeVisible();
  await app.press('a');
  const answered = await bot.until(second.operation_id, (o) => !!o.result);
  expect(answered.result).toMatchObject({ decision: 'approve', human_input: 'ad d' });
  expect((await bot.operation(first.operation_id)).state).toBe('pending');
});

test('Tab reaches the answer, and what has the keyboard is seen', async ({ app, bot, page }) => {
  const op = await bot.ring(approve('Tab to me'));
  await app.open();
  await app.openOperation(op.operation_id);
  await page.locator('#operation-title').focus();
  const approveButton = app.button('Approve');
  for (let i = 0; i < 30 && !(await approveButton.evaluate((element) => element === document.activeElement)); i++) await app.press('Tab');
  await expect(approveButton).toBeFocused();
  expect(await approveButton.evaluate((element) => getComputedStyle(element).outlineStyle)).toBe('solid');
  await app.press('Enter');
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
});

test('the command palette finds what can be done by its name', async ({ app, bot, page }) => {
  const op = await bot.ring(approve('Deploy'));
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press(`${mod}+k`);
  const palette = page.getByRole('dialog', { name: 'Command palette' });
  await expect(palette.getByRole('combobox')).toBeFocused();
  await page.keyboard.type('go agents');
  await expect(palette.getByRole('option')).toHaveText(['Go to agents']);
  await app.press('Enter');
  await expect(page.getByRole('heading', { name: 'Agents' })).toBeVisible();
  await app.press(`${mod}+k`);
  await page.keyboard.type('zzz');
  await expect(page.getByText('Nothing found.')).toBeVisible();
  await app.press('Escape');
  await expect(palette.getByRole('combobox')).toHaveValue('');
  await app.press('Escape');
  await expect(palette).toBeHidden();
});

test('keys pressed before a dialog is there run no command behind it', async ({ app, bot, page }) => {
  const op = await bot.ring(approve('Deploy'));
  let arrive = (): void => {};
  const asked = new Promise<void>((resolve) => (arrive = resolve));
  let release = (): void => {};
  const late = new Promise<void>((resolve) => (release = resolve));
  await page.route(/KeyList.*\.js$/, async (route) => {
    arrive();
    await late;
    await route.continue();
  });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press('?');
  await asked;
  await app.press(`${mod}+k`);
  release();
  await expect(page.getByRole('dialog', { name: 'Keyboard' })).toBeVisible();
});

test('? lists the keys, and a dialog keeps them to itself', async ({ app, bot, page }) => {
  const op = await bot.ring(approve('Deploy'));
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press('?');
  const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
  await expect(keys).toContainText('Next request');
  await app.press('a');
  await app.press('Escape');
  await expect(keys).toBeHidden();
  expect((await bot.operation(op.operation_id)).state).toBe('pending');
});

test('search finds words of the request, details included', async ({ app, bot, page }) => {
  const found = await bot.ring({ description: 'Change the schema', details: { action: 'migrate up', note: 'touches the zebra table' } });
  const other = await bot.ring(approve('Something else'));
  await app.open();
  await app.press('/');
  await page.getByRole('searchbox').fill('zeb');
  await expect(app.row(other.operation_id)).toHaveCount(0);
  await expect(app.row(found.operation_id)).toBeVisible();
  await page.getByRole('searchbox').fill('nowhere');
  await expect(page.getByText('No matches.')).toBeVisible();
  await app.press('Escape');
  await expect(app.row(other.operation_id)).toBeVisible();
});

test('the list is filtered by agent and kind', async ({ app, bot, server, page }) => {
  const mine = await bot.ring(approve('From the bot'));
  const other = await (await server.agent('doc-writer')).ring({ action_type: 'feedback', description: 'Which name?' });
  await app.open();
  await app.press('f');
  await choose(page.getByRole('combobox', { name: 'Agent' }), 'doc-writer');
  await expect(app.row(mine.operation_id)).toHaveCount(0);
  await expect(app.row(other.operation_id)).toBeVisible();
  await choose(page.getByRole('combobox', { name: 'Agent' }), '');
  await choose(page.getByRole('combobox', { name: 'Kind' }), 'approve');
  await expect(app.row(other.operation_id)).toHaveCount(0);
  await app.button('Clear filters').click();
  await expect(app.row(other.operation_id)).toBeVisible();
});

test('what is snoozed does not ring until it is woken', async ({ app, bot, page }) => {
  const op = await bot.ring(approve('Later please'));
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press('s');
  await page.getByRole('dialog').getByRole('button', { name: 'For an hour' }).click();
  await expect(app.row(op.operation_id)).toContainText('until');
  await expect(page).toHaveTitle('Deskbell');
  const until = Date.parse((await app.server.operator.operation(op.operation_id)).snoozed_until ?? '');
  expect(Math.abs(until - Date.now() - 3_600_000)).toBeLessThan(30_000);
  await app.press('s');
  await page.getByRole('dialog').getByRole('button', { name: 'End snooze' }).click();
  await expect(page).toHaveTitle('(1) Deskbell');
});

test('snoozed until a date and time, a request says what that does to its time limit, and comes back as new after a restart', async ({ app, bot, page, server }) => {
  const op = await bot.ring({ ...approve('Later please'), timeout: 3600 });
  await app.open();
  await app.openOperation(op.operation_id);
  const seen = async () => (await server.operator.call<{ deliveries?: { channel: string; seen?: string; seen_again?: string }[] }>('GET', `/api/human/operations/${op.operation_id}`)).deliveries?.find(({ channel }) => channel === 'console');
  await expect.poll(async () => (await seen())?.seen).toBeTruthy();
  await app.press('s');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByText(/Time limit of the request/)).toBeVisible();
  await expect(dialog.getByRole('button', { name: 'Tomorrow' })).toContainText('overdue before');
  await expect(dialog.getByRole('button', { name: 'For 15 minutes' })).not.toContainText('overdue before');
  await accessibleInBothThemes(page);
  const field = dialog.getByLabel('Until a date and time');
  await field.fill('2020-01-01T10:00');
  await expect(dialog.getByRole('alert')).toHaveText('Choose a time to come.');
  await expect(dialog.getByRole('button', { name: 'Snooze', exact: true })).toBeDisabled();
  const soon = new Date(Date.now() + 40 * 60_000);
  await field.fill(new Date(soon.getTime() - soon.getTimezoneOffset() * 60_000).toISOString().slice(0, 16));
  await dialog.getByRole('button', { name: 'Snooze', exact: true }).click();
  await expect(page).toHaveTitle('Deskbell');
  await expect(app.row(op.operation_id)).toContainText('until');
  expect(JSON.stringify(await bot.operation(op.operation_id))).not.toContain('snooze');

  // It comes back while nobody runs Deskbell.
  const until = new Date(Date.now() + 2000).toISOString();
  await server.operator.call('POST', '/api/human/snooze', { operation_id: op.operation_id, until });
  await page.goto('about:blank');
  await server.stop('SIGKILL');
  await new Promise((wakes) => setTimeout(wakes, 2000));
  await server.again();
  await app.open();
  await expect(page).toHaveTitle('(1) Deskbell');
  expect((await seen())?.seen_again).toBeUndefined();
  await app.openOperation(op.operation_id);
  await expect.poll(async () => (await seen())?.seen_again).toBeTruthy();
});

test('several alike are answered together; the risky one stays', async ({ app, bot, page }) => {
  const safe = await Promise.all(['One', 'Two', 'Three'].map((name) => bot.ring(approve(name))));
  const risky = await bot.ring(approve('Danger', 'critical'));
  await app.open();
  for (const op of [...safe, risky]) await app.row(op.operation_id).getByRole('checkbox').check({ force: true });
  await expect(page.getByRole('heading', { name: '4 selected' })).toBeVisible();
  await expect(page.getByText(/1 of them is risky/)).toBeVisible();
  await app.armed();
  await app.button('Approve 3 of 4').click();
  for (const op of safe) expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
  expect((await bot.operation(risky.operation_id)).state).toBe('pending');
});

test('an agent that is gone is said to be, and one that waits as well', async ({ app, bot, page }) => {
  const op = await bot.ring(approve('Are you there'));
  await app.open();
  await app.openOperation(op.operation_id);
  const waiting = bot.until(op.operation_id, (o) => !!o.result);
  await expect(page.locator('article').getByText('still waiting')).toBeVisible();
  await app.button('Approve').click();
  await waiting;
});
