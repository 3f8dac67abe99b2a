import type { Locator } from '@playwright/test';
import { expect, test } from './support/test';

const risky = { description: 'Roll out api 2.14.0', details: { action: 'kubectl apply -f prod.yaml', risk_level: 'high' } };

test('what is typed while the line is down is saved when it is back', async ({ app, bot, page }) => {
  const { operation_id: id } = await bot.ring(risky);
  await app.open();
  await app.openOperation(id);
  await page.context().setOffline(true);
  await app.reason.fill('typed offline');
  await expect(page.getByText('Draft not saved')).toBeVisible();
  await page.context().setOffline(false);
  await expect(page.getByText(/Draft saved \d/)).toBeVisible();
  expect((await app.server.operator.operation(id)).draft?.human_input).toBe('typed offline');
  app.errors.length = 0; // the browser itself reports each call that found no network
});

test('a broken line loses no event', async ({ app, bot, page }) => {
  const first = await bot.ring(risky);
  await app.open();
  await expect(app.row(first.operation_id)).toBeVisible();
  await page.context().setOffline(true);
  const second = await bot.ring({ ...risky, description: 'Rang meanwhile' });
  await bot.cancel(first.operation_id, 'x');
  await page.context().setOffline(false);
  await expect(app.row(second.operation_id)).toBeVisible();
  await expect(page.getByRole('heading', { name: 'Ended today 1' })).toBeVisible();
  app.errors.length = 0; // the browser itself reports each call that found no network
});

test('no secret is in any storage or in the address', async ({ app, bot, page }) => {
  await bot.ring(risky);
  await app.open();
  const kept = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, window.location.href]));
  expect(kept).not.toMatch(/dbo_|dbk_|code=/);
});

test('what a network that changes cuts off is loaded again', async ({ app, bot, page, server }) => {
  const { operation_id: id } = await bot.ring(risky);
  const whole = await (await page.request.get(server.url)).text();
  const seen = new Set<string>();
  await page.route('**/assets/**', (route) => {
    const file = new URL(route.request().url()).pathname;
    if (whole.includes(file) || seen.has(file)) return route.fallback();
    seen.add(file);
    return route.abort('connectionaborted');
  });
  const { console } = await server.invite();
  await page.goto(console);
  // A browser that remembers what failed reloads the page, or offers to; others load the part again.
  const reload = page.getByRole('button', { name: 'Reload', exact: true }).first();
  const shows = async (what: Locator): Promise<void> => {
    await expect(async () => {
      if (await reload.isVisible()) {
        await reload.click();
        pressed += 1;
      }
      await expect(what).toBeVisible({ timeout: 4_000 });
    }).toPass();
  };
  let pressed = 0;
  await shows(page.getByRole('navigation'));
  await app.go(`inbox/${id}`);
  await shows(page.getByRole('button', { name: 'Approve', exact: true }));
  if (Number(page.context().browser()?.version().split('.')[0]) >= 156) expect(pressed).toBe(0);
  await expect(page.getByText("couldn't load")).toHaveCount(0);
  expect(seen.size).toBeGreaterThan(5);
  expect([...seen].filter((file) => file.endsWith('.css'))).toEqual([]);
  await page.unrouteAll({ behavior: 'wait' });
  app.errors.length = 0; // the browser itself reports what it could not load
});
