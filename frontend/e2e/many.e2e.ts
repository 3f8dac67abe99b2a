import type { Page } from '@playwright/test';
import { expect, test } from './support/test';

// A trace would take pictures of the page while it is measured.
test.use({ flags: ['--set', 'human.max_pending_requests=2000'], trace: 'off' });

/** How long the page's thread has worked so far, in milliseconds, whatever else the machine does. */
async function busy(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find((metric) => metric.name === 'TaskDuration')?.value ?? 0) * 1000;
}

test('of a thousand open operations the list draws what is seen, and stays quick', async ({ app, bot, page }) => {
  test.setTimeout(120_000);
  let last = '';
  for (let i = 0; i < 1000; i += 20) {
    const ops = await Promise.all(Array.from({ length: 20 }, (_, k) => bot.ring({ description: `Operation ${i + k}`, details: { action: `run ${i + k}`, risk_level: 'low' } })));
    last = ops.at(-1)?.operation_id ?? '';
  }
  await app.open();
  await expect(page).toHaveTitle('(1000) Deskbell', { timeout: 30_000 });
  expect(await page.locator('[data-id]').count()).toBeLessThan(60);
  const before = await busy(page);
  for (let i = 0; i < 30; i++) await app.press('j');
  await expect(page.locator('.row.sel')).toBeVisible();
  expect((await busy(page) - before) / 30, 'milliseconds of work for a step in the list').toBeLessThan(200);
  expect(await page.locator('[data-id]').count()).toBeLessThan(60);
  const fresh = await bot.ring({ description: 'Newest and most urgent', priority: 9 });
  await page.locator('.rows > div').first().evaluate((element) => (element.scrollTop = 0));
  await expect(app.row(fresh.operation_id)).toBeVisible();
  await app.openOperation(last);
  await app.press('a');
  expect((await bot.until(last, (o) => !!o.result)).result?.decision).toBe('approve');
});
