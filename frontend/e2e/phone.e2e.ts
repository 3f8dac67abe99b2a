import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { seed } from './support/seeds';
import { accessibleInBothThemes, expect, fits, test } from './support/test';

const run = promisify(execFile);

test.describe('at the computer', () => {
  test.use({ flags: ['--set', 'phone.addr=127.0.0.1:0'] });

  test('phones are off until they are allowed; a QR code says where, and goes when it is hidden', async ({ app, page, server }) => {
    await app.open('settings');
    const section = page.getByRole('region', { name: 'Phone', exact: true });
    const on = section.getByRole('switch', { name: 'Allow phones on this network' });
    await expect(on).not.toBeChecked();
    await expect(section.getByRole('button', { name: 'Show QR code' })).toHaveCount(0);
    await on.click();
    await expect(on).toBeChecked();
    await section.getByRole('button', { name: 'Show QR code' }).click();
    const code = section.getByRole('img', { name: 'QR code that pairs one phone' });
    await expect(code).toBeVisible();
    // What a camera reads is this machine's address for phones, with a code that only it has.
    const picture = path.join(server.dir, 'qr.png');
    await writeFile(picture, await code.screenshot());
    const { stdout } = await run('zbarimg', ['--quiet', '--raw', picture]);
    expect(stdout.trim()).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/#pair=\w{20,}$/);
    await expect(section.locator('code.cmd')).toHaveText(/^[\dA-F]{2}(:[\dA-F]{2}){31}$/);
    await accessibleInBothThemes(page);
    await section.getByRole('button', { name: 'Hide' }).click();
    await expect(code).toHaveCount(0);
    await on.click();
    await expect(on).not.toBeChecked();
    await expect(section.getByRole('button', { name: 'Show QR code' })).toHaveCount(0);
  });
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test('a request is found, read and answered with a thumb', async ({ app, page, server }) => {
    test.setTimeout(90_000);
    const ids = await seed(server);
    await app.open('inbox');
    await fits(page);
    await app.row(ids.low ?? '').getByRole('link').tap();
    await app.armed();
    await fits(page);
    for (const button of await page.locator('.decide .btn:visible, nav a:visible').all()) {
      const box = await button.boundingBox();
      expect(Math.min(box?.width ?? 0, box?.height ?? 0), `${await button.textContent()}: ${JSON.stringify(box)}`).toBeGreaterThanOrEqual(44);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);
    }
    await accessibleInBothThemes(page);
    await page.getByRole('button', { name: 'Approve', exact: true }).tap();
    await expect(page.getByText('Approved by you').first()).toBeVisible();
    await page.getByRole('button', { name: 'Inbox' }).tap();
    await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  });

  test('every page fits', async ({ app, page, server }) => {
    test.setTimeout(90_000);
    const ids = await seed(server);
    await app.open();
    for (const place of ['inbox', 'history', 'recordings', 'gatekeeper', 'agents', 'agents/keys', 'settings', 'welcome', ...Object.values(ids).filter((id) => id.startsWith('op_')).map((id) => `inbox/${id}`)]) {
      await app.go(place);
      await expect(page.getByText(/^(Loading…|Checking…)$/)).toHaveCount(0);
      await fits(page);
    }
  });
});

test('the page can be put on a home screen', async ({ server, request }) => {
  const manifest = await request.get(`${server.url}/manifest.webmanifest`);
  expect(manifest.headers()['content-type']).toBe('application/manifest+json');
  const { icons, display } = (await manifest.json()) as { icons: { src: string; sizes: string }[]; display: string };
  expect(display).toBe('standalone');
  for (const { src, sizes } of [...icons, { src: '/apple-touch-icon.png', sizes: '180x180' }]) {
    const bytes = await (await request.get(server.url + src)).body();
    expect(`${bytes.readUInt32BE(16)}x${bytes.readUInt32BE(20)}`, src).toBe(sizes);
  }
});
