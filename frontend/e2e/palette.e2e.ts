import type { Locator, Page } from '@playwright/test';
import type { Agent, Operation } from './support/server';
import { accessibleInBothThemes, expect, fits, mod, resize, test, type Console } from './support/test';

const box = (page: Page): Locator => page.getByRole('dialog').getByRole('combobox');
const texts = async (page: Page): Promise<string[]> => (await options(page).allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim());
const options = (page: Page): Locator => page.getByRole('dialog').getByRole('option');

async function openPalette(app: Console): Promise<void> {
  await app.press(`${mod}+k`);
  await expect(box(app.page)).toBeFocused();
}

/** Something in every group that has to do with aws. */
async function seed(app: Console, bot: Agent): Promise<Record<'open' | 'done', Operation>> {
  const open = await bot.ring({ action_type: 'bash', description: 'Sign in to AWS with the hardware key' });
  const done = await bot.ring({ action_type: 'feedback', description: 'Which vendor?', details: { risk_level: 'low' } });
  await app.server.operator.call('POST', '/api/human/complete', {
    operation_id: done.operation_id, human_input: 'Ask billing', key_findings: ['The AWS bill is paid by account 4182', '账单由供应商支付'],
  });
  await bot.call('POST', '/api/gate/evaluate', { tool: 'Bash', args: { command: 'ls aws-logs' }, cwd: app.server.dir, session_id: 's', client: 'claude-code' });
  return { open, done };
}

test('one search finds requests, findings, decisions, settings and commands', async ({ app, bot, page }) => {
  const { open, done } = await seed(app, bot);
  await app.open('inbox');
  await openPalette(app);
  await page.keyboard.type('aws');
  const group = (name: string): Locator => page.getByRole('dialog').getByRole('group', { name });
  await expect(group('Requests').getByRole('option')).toHaveCount(2);
  await expect(group('Requests').getByRole('option').first()).toContainText('Sign in to AWS');
  await expect(group('Findings').getByRole('option')).toContainText('The AWS bill is paid by account 4182');
  await expect(group('Gatekeeper').getByRole('option')).toContainText('ls aws-logs');
  await expect(page.locator('mark').first()).toHaveText('AWS');
  await accessibleInBothThemes(page);
  for (const width of [1280, 400]) {
    await resize(page, width);
    await fits(page, 'dialog input');
  }
  await resize(page, 1280, 800);

  await app.press('Enter');
  await expect(page.locator('#operation-title')).toHaveText('Sign in to AWS with the hardware key');
  expect(new URL(page.url()).hash).toBe(`#/inbox/${open.operation_id}`);

  // Chinese words stand without spaces; what has ended opens in the history.
  await openPalette(app);
  await page.keyboard.insertText('供应商');
  await expect(group('Findings').getByRole('option')).toContainText('账单由供应商支付');
  await group('Findings').getByRole('option').click();
  await expect(page).toHaveURL(new RegExp(`#/history/${done.operation_id}$`));

  // A setting opens where it is changed.
  await openPalette(app);
  await page.keyboard.type('human.max_history');
  await options(page).filter({ hasText: 'human.max_history' }).click();
  await expect(page.locator('[data-setting="human.max_history"] input')).toBeFocused();

  // What was opened comes first, and no text of it stays in the browser.
  await openPalette(app);
  for (const [at, words] of [[0, 'Requests in a summary'], [1, 'Which vendor?'], [2, 'Sign in to AWS']] as const) await expect(group('Recent').getByRole('option').nth(at)).toContainText(words);
  expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toMatch(/vendor|AWS/);
});

test('Tab turns the scope, > asks for commands only, Escape clears and then closes', async ({ app, bot, page }) => {
  for (const n of [1, 2, 3, 4]) await bot.ring({ action_type: 'feedback', description: `deploy ${n}` });
  await app.open('inbox');
  await openPalette(app);
  await page.keyboard.type('deploy');
  await expect(options(page)).toHaveCount(2);
  await app.press('Tab');
  await expect(options(page)).toHaveCount(4);
  await expect(app.button(/^Requests/)).toHaveAttribute('aria-pressed', 'true');
  await app.press('Shift+Tab');
  await expect(options(page)).toHaveCount(2);
  await app.press('Escape');
  await expect(box(page)).toHaveValue('');
  await page.keyboard.type('> agents');
  await expect(options(page)).toHaveText(['Go to agents']);
  await app.press('Escape', 'Escape');
  await expect(box(page)).toBeHidden();
});

test('a slow server moves nothing that is shown; a dangerous answer is no command', async ({ app, bot, page }) => {
  const op = await bot.ring({ description: 'Approve me', details: { action: 'rm -rf /srv', risk_level: 'critical' } });
  let release = (): void => {};
  const late = new Promise<void>((resolve) => (release = resolve));
  await page.route('**/api/search?*', async (route) => {
    await late;
    await route.continue();
  });
  await app.open();
  await app.openOperation(op.operation_id);
  await openPalette(app);
  await expect(options(page).filter({ hasText: 'Deny' })).toBeVisible();
  await expect(options(page).filter({ hasText: /^Approve/ })).toHaveCount(0);
  await page.keyboard.type('recordings');
  await expect(page.getByRole('dialog').getByRole('status')).toHaveText('Searching…');
  const before = await texts(page);
  expect(before[0]).toBe('Go to recordings');
  release();
  await expect(page.getByRole('dialog').getByRole('status')).toHaveText('');
  expect((await texts(page)).slice(0, before.length)).toEqual(before);
});
