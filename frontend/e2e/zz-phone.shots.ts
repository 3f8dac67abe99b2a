import { devices } from '@playwright/test';
import { test, Console } from './support/test';
import { seed } from './support/seeds';
import { Server } from './support/server';
test('look', async ({ browser }) => {
  const server = await Server.start();
  const ids = await seed(server);
  for (const [theme, lang] of [['light', 'en'], ['dark', 'zh-CN']] as const) {
    const context = await browser.newContext({ ...devices['iPhone 13'], defaultBrowserType: undefined, userAgent: undefined, viewport: { width: 390, height: 844 }, deviceScaleFactor: 1, colorScheme: theme, locale: lang } as never);
    const page = await context.newPage();
    const app = new Console(page, server);
    await page.goto((await server.invite()).console);
    await page.locator('nav').waitFor();
    const shot = async (n: string) => { await page.waitForTimeout(700); await page.screenshot({ path: `/tmp/console/p-${n}-${theme}.png`, animations: 'disabled' }); console.log(n, await page.evaluate(() => document.documentElement.scrollWidth)); };
    await shot('inbox');
    for (const k of ['critical', 'approve', 'feedback', 'low']) { await app.go('inbox/' + ids[k]); await shot(k); }
    await app.go('settings'); await page.getByRole('switch', { name: /network|此网络/ }).scrollIntoViewIfNeeded(); await shot('settings');
    await page.getByRole('switch', { name: /network|此网络/ }).click(); await page.waitForTimeout(500);
    await shot('proof');
    for (const p of ['history', 'agents/keys', 'gatekeeper']) { await app.go(p); await shot(p.replace('/', '-')); }
    await context.close();
  }
  await server.end();
});
