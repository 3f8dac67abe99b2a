import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { accessibleInBothThemes, expect, fits, resize, test as base, type Console } from './support/test';

interface Asking {
  root: string;
  /** Asks and answers, as often as said. Each is read for as long as the text takes. */
  ask: (command: string, choice: 'allow' | 'deny', times: number) => Promise<void>;
}

const test = base.extend<{ asking: Asking }>({
  asking: async ({ server }, use) => {
    const root = await mkdtemp(path.join(tmpdir(), 'deskbell-project-'));
    const agent = await server.agent('claude-code');
    const me = server.operator;
    let n = 0;
    await use({
      root,
      ask: async (command, choice, times) => {
        const asked: string[] = [];
        for (let i = 0; i < times; i++) {
          const { operation_id: id } = await agent.call<{ operation_id: string }>('POST', '/api/gate/evaluate?wait=0', {
            tool: 'Bash', args: { command }, cwd: root, root, client: 'claude-code', session_id: 's1', call_id: `c${++n}`,
          });
          await me.call('POST', '/api/human/seen', { operation_id: id, channel: 'console' });
          asked.push(id);
        }
        await expect(async () => {
          const { at } = (await me.call<{ decisions: { at: string; operation_id: string }[] }>('GET', '/api/gate/decisions')).decisions.find((one) => one.operation_id === asked.at(-1)) ?? {};
          expect(Date.now() - Date.parse(at ?? '')).toBeGreaterThan(3_000);
        }).toPass();
        for (const id of asked) await me.call('POST', `/api/gate/questions/${id}/answer`, { choice, digest: (await me.operation(id)).digest });
      },
    });
    await rm(root, { recursive: true, force: true });
  },
});

/** The server's history is as old as the test. Its report is the server's own but for when the history starts. */
async function older(page: Page): Promise<void> {
  await page.route('**/api/attention?*', async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), since: new Date(Date.now() - 40 * 86_400_000).toISOString() } });
  });
}

const rows = (app: Console) => app.page.locator('[data-question]');
const row = (app: Console, text: string) => rows(app).filter({ hasText: text });

test('lists questions that never changed an outcome, and adds the rule that spares them', async ({ app, asking, page }) => {
  test.slow();
  await app.open('history');
  await page.getByRole('button', { name: 'Attention' }).click();
  await expect(page).toHaveURL(/#\/history\/attention$/);
  await expect(page.getByText('No requests yet')).toBeVisible();

  await asking.ask('npm install left-pad', 'allow', 6);
  await asking.ask('npm install right-pad', 'deny', 5);
  await asking.ask('npm install is-odd', 'allow', 1);
  await page.reload();
  await expect(page.locator('.tiles')).toContainText('on 12 requests');
  await expect(page.getByText('Not enough history yet')).toBeVisible();
  await expect(rows(app)).toHaveCount(0);

  await older(page);
  await page.reload();
  await expect(rows(app)).toHaveCount(2);
  await expect(row(app, 'left-pad')).toContainText('claude-code');
  await expect(row(app, 'left-pad')).toContainText('always allowed');
  await expect(row(app, 'left-pad')).toContainText('allows 6, none you denied');
  await expect(row(app, 'right-pad')).toContainText('blocks 5, none you allowed');
  const side = page.getByRole('complementary', { name: 'The question' });
  await expect(side).toContainText('npm install left-pad');
  await expect(side).toContainText('Similar, still asks you');
  await expect(side).toContainText('npm install is-odd');

  await rows(app).first().focus();
  await app.press('ArrowDown', 'Enter');
  await expect(row(app, 'right-pad')).toHaveAttribute('aria-current', 'true');
  await side.getByRole('button', { name: "Don't suggest" }).click();
  await expect(row(app, 'right-pad')).toContainText("You didn't want this rule");
  await expect(side.getByRole('button')).toHaveCount(0);

  await row(app, 'left-pad').click();
  await side.getByRole('button', { name: 'Add the rule…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Suggested rule' });
  await expect(dialog.getByRole('textbox', { name: 'Command' })).toHaveValue('npm install left-pad');
  await dialog.getByRole('button', { name: 'Create rule' }).click();
  await expect(row(app, 'left-pad')).toContainText('A rule of yours covers it');
  const { rules } = await app.server.operator.call<{ rules: { command: string; agent_id: string; project: string; decision: string }[] }>('GET', '/api/gate/rules');
  expect(rules).toMatchObject([{ command: 'npm install left-pad', agent_id: 'claude-code', project: asking.root, decision: 'allow' }]);

  await page.getByRole('button', { name: '7 days' }).click();
  await expect(page).toHaveURL(/#\/history\/attention\/7$/);
  await page.getByRole('table').getByRole('button', { name: 'claude-code' }).click();
  await expect(page.locator('a.hit')).toHaveCount(12);
});

for (const language of ['en', 'zh-CN'] as const) {
  test(`the attention tab: WCAG 2.2 AA in both themes, and room at every width: ${language}`, async ({ app, asking, page }) => {
    test.slow();
    await asking.ask('npm install left-pad', 'allow', 5);
    await older(page);
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    await app.open('history/attention/90');
    await expect(rows(app)).toHaveCount(1);
    await accessibleInBothThemes(page);
    for (const width of [1440, 1000, 640, 400]) {
      await resize(page, width);
      if (width === 1000) await rows(app).click();
      await fits(page, '.bar .btn');
      await expect(page.getByText('npm install left-pad').last()).toBeVisible();
    }
    await accessibleInBothThemes(page);
  });
}

test('keeps the last report while the server is away', async ({ app, bot, page }) => {
  await bot.ring({ description: 'Still open' });
  await app.open('history/attention');
  await expect(page.locator('.tiles')).toContainText('0 a day'); // 1 in 30 days
  await page.route('**/api/attention?*', (route) => route.abort());
  await page.getByRole('button', { name: '90 days' }).click();
  await expect(page.getByRole('alert')).toContainText('The numbers are from');
  await page.unroute('**/api/attention?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
  app.errors.length = 0; // the browser's own words for the call that failed
});
