import { spawn } from 'node:child_process';
import { program } from './support/server';
import { Console, expect, test } from './support/test';

test('a link signs in, and its code leaves the address at once', async ({ app, page, server }) => {
  const seen: string[] = [];
  page.on('request', (request) => seen.push(request.url()));
  const { console, code } = await server.invite();
  expect(new URL(console).hash).toBe(`#code=${code}`);
  await page.goto(console);
  await expect(page.getByText('Step 1 of')).toBeVisible();
  expect(page.url()).not.toContain(code);
  expect(seen.filter((url) => url.includes(code) && !url.includes('#'))).toEqual([]);
  await page.goBack();
  expect(page.url()).not.toContain(code);
  expect(app.errors).toEqual([]);
});

test('a used code is refused, with words and a way on', async ({ page, server, app }) => {
  const { console } = await server.invite();
  await page.goto(console);
  await expect(page.getByText('Step 1 of')).toBeVisible();
  const other = await page.context().newPage();
  await other.goto(console);
  await expect(other.getByRole('alert')).toContainText('already used or has expired');
  const { code } = await server.invite();
  await other.getByRole('textbox', { name: 'One-time code' }).fill(code.toLowerCase().replace('-', ' '));
  await other.getByRole('button', { name: 'Sign in' }).click();
  await expect(other.getByText('Step 1 of')).toBeVisible();
  expect(app.errors).toEqual([]);
});

test('a wrong code says what to do', async ({ page, server }) => {
  await page.goto(server.url);
  await expect(page.getByRole('button', { name: 'Sign in' })).toBeDisabled();
  await page.getByRole('textbox', { name: 'One-time code' }).fill('AAAAA-AAAAA');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Get a new one');
});

test('a reload keeps the session and the place, and leaves no secret behind', async ({ app, bot, page }) => {
  const op = await bot.ring({ description: 'Deploy?', details: { action: 'make deploy', risk_level: 'low' } });
  await app.open(`inbox/${op.operation_id}`);
  await expect(page.locator('#operation-title')).toHaveText('Deploy?');
  await page.reload();
  await expect(page.locator('#operation-title')).toHaveText('Deploy?');
  const stored = await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }));
  expect(stored).not.toContain('dbo_');
  expect(stored).not.toContain('resume');
});

test('another browser gets in with a code from the settings', async ({ app, page, browser, server, bot }) => {
  await bot.ring({ description: 'So that there is an inbox' });
  await app.open('settings');
  await app.button('Create code').click();
  const shown = page.getByText(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
  const code = await shown.textContent();
  // It leaves the screen with the focus, and comes back on demand.
  await page.evaluate(() => window.dispatchEvent(new Event('blur')));
  await expect(shown).toBeHidden();
  await expect(page.getByText(/#code=/)).toBeHidden();
  await app.button('Show').click();
  await expect(shown).toHaveText(code ?? '');
  const other = new Console(await (await browser.newContext()).newPage(), server);
  await other.page.goto(server.url);
  await other.page.getByRole('textbox', { name: 'One-time code' }).fill(code ?? '');
  await other.button('Sign in').click();
  await expect(other.page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  await expect(page.getByText(code ?? '')).toHaveCount(0);
  await other.page.context().close();
});

test('when the server was started anew, somebody signs in again and goes on where they were', async ({ app, bot, page, server }) => {
  const op = await bot.ring({ description: 'Deploy?', details: { action: 'make deploy', risk_level: 'low' } });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.reason.fill('Only after lunch');
  await expect(page.getByText(/Draft saved \d/)).toBeVisible();
  await server.stop();
  await expect(page.getByText(/Reconnecting/)).toBeVisible();
  await app.reason.fill('Only after lunch, at two');
  await server.again();
  await expect(page.getByText('Deskbell was restarted')).toBeVisible({ timeout: 30_000 });
  await page.getByRole('textbox', { name: 'One-time code' }).fill((await server.invite()).code);
  await app.button('Sign in').click();
  await expect(app.reason).toHaveValue('Only after lunch, at two');
  await expect.poll(async () => (await server.operator.operation(op.operation_id)).draft?.human_input).toBe('Only after lunch, at two');
  await app.armed();
  await app.button('Approve').click();
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.human_input).toBe('Only after lunch, at two');
  app.errors.length = 0; // a broken line logs errors of its own
});

test('the operator sees who signs in in a terminal', async ({ app, page, server }) => {
  await app.open('inbox');
  const terminal = spawn('script', ['-qfec', `"${program}" login --data "${server.dir}"`, '/dev/null'], { stdio: ['pipe', 'pipe', 'inherit'] });
  let shown = '';
  terminal.stdout.on('data', (text: Buffer) => {
    shown += text.toString();
    const code = /Code (\S{11}),/.exec(shown)?.[1];
    if (code) terminal.stdin.end(code + '\r');
  });
  await expect(page.getByText(/^mei signed in with deskbell login in the terminal \/dev\/pts\/\d+\. If this/)).toBeVisible();
  await app.button('Close').click();
  await expect(page.getByText(/signed in with deskbell login/)).toHaveCount(0);
});
