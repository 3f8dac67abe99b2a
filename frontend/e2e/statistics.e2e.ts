import { readFileSync } from 'node:fs';
import { accessibleInBothThemes, choose, expect, fits, resize, test, type Agent, type Console } from './support/test';

/** Twelve approvals, three of them denied, in two projects; a question; one that was withdrawn and one that is open. */
async function fill(app: Console, bot: Agent): Promise<void> {
  const me = app.server.operator;
  for (let i = 0; i < 12; i++) {
    const op = await bot.ring({ description: `Roll out part ${i}`, details: { action: `kubectl apply -f ${i}.yaml`, risk_level: 'low' }, context: { project: i < 4 ? 'shop' : 'till' } });
    await me.call('POST', '/api/human/shown', { operation_id: op.operation_id, channel: 'card' });
    await me.call('POST', '/api/human/seen', { operation_id: op.operation_id, channel: 'card' });
    await me.call('POST', '/api/human/complete', { operation_id: op.operation_id, digest: op.digest, decision: i % 4 === 3 ? 'deny' : 'approve', human_input: 'Because' });
  }
  const asked = await (await app.server.agent('doc-writer')).ring({ action_type: 'feedback', description: '=HYPERLINK("http://evil.example")' });
  await me.call('POST', '/api/human/complete', { operation_id: asked.operation_id, human_input: 'Deskbell' });
  await bot.cancel((await bot.ring({ description: 'Never mind' })).operation_id, 'changed my mind');
  await bot.ring({ description: 'Still open' });
}

const rows = (app: Console) => app.page.locator('a.hit');

test('counts on the server, and each number leads to its requests', async ({ app, bot, page }) => {
  await fill(app, bot);
  await app.open('history');
  await page.getByRole('button', { name: 'Statistics' }).click();
  await expect(page).toHaveURL(/#\/history\/statistics$/);
  await expect(page.getByText('15 requests match')).toBeVisible();
  await expect(page.locator('.tiles')).toContainText('75%');
  await expect(page.locator('.tiles')).toContainText('of 12 yes-or-no answers');
  await expect(page.locator('.tiles')).toContainText('12 cards popped up');
  const table = page.getByRole('table');
  await expect(table.getByRole('row', { name: /^doc-writer/ })).toContainText('–'); // no yes or no, no rate
  await page.getByRole('button', { name: 'By project' }).click();
  await expect(table.getByRole('row', { name: /^shop/ })).toContainText('too few');

  await table.getByRole('button', { name: 'shop' }).click();
  await expect(rows(app)).toHaveCount(4);
  await page.getByRole('button', { name: 'Remove the filter Project: shop' }).click();
  await expect(rows(app)).toHaveCount(15);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await expect(rows(app)).toHaveCount(14); // what has ended

  await page.getByRole('button', { name: 'Statistics', exact: true }).click();
  await page.getByRole('button', { name: /^denied/ }).click();
  await expect(rows(app)).toHaveCount(3);
  await page.getByRole('button', { name: 'Statistics', exact: true }).click();
  const day = page.getByRole('button', { name: /^Open the requests of a day/ });
  await day.focus();
  await page.keyboard.press('ArrowRight'); // the last day is today
  await expect(page.getByText(/: 15 requests$/)).toBeVisible();
  await page.keyboard.press('Enter');
  await expect(rows(app)).toHaveCount(15); // the open one, too
  await expect(rows(app).first()).toContainText('Still open');
});

test('keeps the last numbers while the server is away, and says of when they are', async ({ app, bot, page }) => {
  await fill(app, bot);
  await app.open('history/statistics');
  await expect(page.getByText('15 requests match')).toBeVisible();
  await page.route('**/api/statistics?*', (route) => route.abort());
  await page.getByRole('button', { name: '7 days' }).click();
  await expect(page.getByRole('alert')).toContainText('The numbers are from');
  await expect(page.locator('.tiles')).toContainText('75%');
  await page.unroute('**/api/statistics?*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('alert')).toHaveCount(0);
  app.errors.length = 0; // the browser's own words for the call that failed
});

test('exports what is shown, and no formula', async ({ app, bot, page }) => {
  await fill(app, bot);
  await app.open('history');
  await choose(page.getByRole('combobox', { name: 'Agent' }), 'doc-writer');
  await expect(rows(app)).toHaveCount(1);
  const save = async (format: string): Promise<string> => {
    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Export…' }).click();
    await page.getByRole('menuitem', { name: format }).click();
    return readFileSync(await (await download).path(), 'utf8');
  };
  const table = (await save('CSV')).trim().split('\n');
  expect(table).toHaveLength(2);
  expect(table[1]).toContain(`"'=HYPERLINK(""http://evil.example"")"`);
  const lines = (await save('JSON Lines')).trim().split('\n').map((line) => JSON.parse(line) as { agent_id: string });
  expect(lines.map((op) => op.agent_id)).toEqual(['doc-writer']);
});

for (const language of ['en', 'zh-CN'] as const) {
  test(`WCAG 2.2 AA in both themes, and room at every width: ${language}`, async ({ app, bot, page }) => {
    test.slow();
    await fill(app, bot);
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    await app.open('history/statistics');
    await expect(page.locator('.tiles')).toBeVisible();
    await accessibleInBothThemes(page);
    for (const width of [1440, 1000, 640, 400]) {
      await resize(page, width);
      await fits(page, '.bar .btn');
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/stats-${language}-${width}.png`, fullPage: true });
    }
  });
}

test('no label of an axis is cut off, in either language', async ({ app, bot, page }) => {
  await fill(app, bot);
  await page.route('**/api/statistics*', async (route) => {
    const response = await route.fetch();
    const body = (await response.json()) as { days: { requests: number; answer: { count: number; tenth_ms: number; ninth_ms: number } }[] };
    for (const { answer } of body.days) if (answer.count) [answer.tenth_ms, answer.ninth_ms] = [5000, 26 * 3600_000];
    const last = body.days.at(-1);
    if (last) last.requests = 2600;
    await route.fulfill({ response, json: body });
  });
  await app.open();
  for (const language of ['en', 'zh-CN']) {
    await page.evaluate((to) => localStorage.setItem('deskbell.language', to), language);
    await page.reload();
    await app.go('history/statistics');
    await expect(page.locator('svg text').filter({ hasText: /^(15 min|15 分钟)$/ })).toBeVisible();
    const out = await page.locator('svg text').evaluateAll((all) => all.flatMap((text) => {
      const [box, frame] = [text.getBoundingClientRect(), text.closest('svg')?.getBoundingClientRect()];
      return frame && (box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1) ? [`${text.textContent} ${box.left - frame.left} ${frame.right - box.right} ${box.top - frame.top}`] : [];
    }));
    expect(out).toEqual([]);
  }
});
