import { createServer, type Server as Web } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from './support/test';

test('hidden characters are drawn as boxes, where they are approved', async ({ app, bot, page }) => {
  const op = await bot.ring({
    description: 'Delete the old\u200B fixtures',
    details: { action: 'rm -rf build .c\u0430che fixtures/\u202Edlo\u0007', risk_level: 'critical' },
  });
  await app.open();
  await app.openOperation(op.operation_id);
  const command = page.locator('code.cmd, .cmd').filter({ hasText: 'rm -rf' }).first();
  for (const box of ['U+0430', 'U+202E', 'U+0007']) await expect(command).toContainText(box);
  await expect(page.locator('#operation-title')).toContainText('U+200B');
  await expect(page.getByText('3 characters to check')).toBeVisible();
  // None of them is left to act: what is drawn holds no character that turns the text.
  expect(await command.evaluate((element) => /[\u202A-\u202E\u2066-\u2069\u0007]/.test(element.textContent ?? ''))).toBe(false);
});

test.describe('an agent\'s Markdown', () => {
  let trap: Web;
  let address = '';
  const asked: string[] = [];
  test.beforeAll(async () => {
    trap = createServer((request, response) => {
      asked.push(request.url ?? '');
      response.end();
    });
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve));
    address = `http://127.0.0.1:${(trap.address() as AddressInfo).port}`;
  });
  test.afterAll(() => void trap.close());

  test('runs no script, loads no picture, links to nothing but http(s)', async ({ app, bot, page }) => {
    const text = [
      'Look here:', '',
      `<img src="${address}/raw.png" onerror="window.hit=1"> <script>window.hit=1</script> <iframe src="${address}/frame"></iframe>`, '',
      `![picture](${address}/md.png)`, '',
      '[run](javascript:window.hit=1) [data](data:text/html,<script>1</script>) [file](file:///etc/passwd)', '',
      `<style>@import url(${address}/css)</style> <svg onload="window.hit=1">`, '',
      `[honest](${address}/page) and **bold**`,
    ].join('\n');
    const op = await bot.ring({ action_type: 'feedback', description: `What do you think?\n\n${text}`, details: { current_design: text, concerns: [text] } });
    await bot.reply(op.operation_id, text);
    await app.open();
    await app.openOperation(op.operation_id);
    await expect(page.getByRole('log').locator('strong', { hasText: 'bold' })).toBeVisible();
    expect(await page.evaluate(() => 'hit' in window)).toBe(false);
    await expect(page.locator('article img, article iframe, article script, article style, .side img, .side iframe')).toHaveCount(0);
    const links = await page.locator('article a, .side a').evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).protocol));
    expect(links.length).toBeGreaterThan(0);
    expect(links.filter((protocol) => protocol !== 'http:' && protocol !== 'https:')).toEqual([]);
    expect(asked).toEqual([]);
  });

  test('and if it did, the page\'s policy would stop it', async ({ app, page, bot }) => {
    await bot.ring({ description: 'So that there is an inbox' });
    await app.open();
    const stopped = await page.evaluate(async (to) => {
      const blocked: string[] = [];
      document.addEventListener('securitypolicyviolation', (event) => blocked.push(event.effectiveDirective));
      const add = (tag: string, set: Record<string, string>): void => void document.body.append(Object.assign(document.createElement(tag), set));
      add('script', { textContent: 'window.hit = 1' });
      add('script', { src: `${to}/x.js` });
      add('img', { src: `${to}/x.png` });
      add('iframe', { src: `${to}/frame` });
      await fetch(`${to}/fetch`).catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 300));
      return { hit: 'hit' in window, blocked: [...new Set(blocked)].sort() };
    }, address);
    expect(stopped.hit).toBe(false);
    expect(stopped.blocked).toEqual(['connect-src', 'frame-src', 'img-src', 'script-src-elem']);
    expect(asked).toEqual([]);
    app.errors.length = 0; // each stop is logged by the browser
  });
});

test('a link out of the console carries nothing of it', async ({ server }) => {
  const response = await fetch(server.url);
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
  expect(response.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
});
