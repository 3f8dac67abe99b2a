import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { accessible, accessibleInBothThemes, expect, fits, resize, test, type Agent } from './support/test';

/** Stores a file for a request, and returns its id. */
async function attach(bot: Agent, name: string, bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  const response = await fetch(`${bot.server.url}/api/attachments?name=${encodeURIComponent(name)}`, { method: 'POST', headers: { Authorization: `Bearer ${bot.secret}` }, body: bytes });
  return ((await response.json()) as { attachment_id: string }).attachment_id;
}

test('files of an approval are shown with it, and its bytes and theirs are what the answer is for', async ({ app, bot }) => {
  await app.open();
  const png = await app.page.evaluate(() => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [900, 500];
    const c = canvas.getContext('2d');
    if (!c) return '';
    c.fillStyle = '#2a6';
    c.fillRect(0, 0, 900, 500);
    return canvas.toDataURL('image/png').split(',')[1] ?? '';
  });
  const shot = await attach(bot, 'before.png', Uint8Array.from(Buffer.from(png, 'base64')));
  const log = await attach(bot, 'report <b>.txt', new TextEncoder().encode('<script>alert(1)</script>'));
  const op = await bot.ring({ description: 'Deploy what the picture shows', details: { action: 'make deploy' }, ...{ attachments: [shot, log] } });
  await app.openOperation(op.operation_id);
  const image = app.page.getByRole('img', { name: 'before.png' });
  await expect(image).toHaveJSProperty('naturalWidth', 480);
  await expect(app.page.getByText('report _b_.txt')).toBeVisible();
  await expect(app.page.getByText('Their digest was checked here')).toBeVisible();
  await accessible(app.page);
  const saving = app.page.waitForEvent('download');
  await app.page.getByRole('button', { name: 'Download report _b_.txt' }).click();
  expect((await saving).suggestedFilename()).toBe('report _b_.txt');
  await app.page.getByRole('button', { name: 'before.png', exact: true }).press('Enter');
  await expect(app.page.getByRole('dialog', { name: 'before.png' }).getByRole('img')).toHaveJSProperty('naturalWidth', 900);
  await app.page.keyboard.press('Escape');
  await expect(app.page.getByRole('dialog')).toHaveCount(0);
  await resize(app.page, 400);
  await fits(app.page);
});

test('a file that retention removed says so in the list, and cannot be opened', async ({ app, bot, server }) => {
  const [gone, there] = [await attach(bot, 'before.txt', new TextEncoder().encode('old')), await attach(bot, 'after.txt', new TextEncoder().encode('new'))];
  const op = await bot.ring({ action_type: 'feedback', description: 'Which is right?', ...{ attachments: [gone, there] } });
  // As retention leaves it: nothing here is old enough.
  await writeFile(path.join(server.dir, 'attachments', gone.replace('att_', ''), 'removed'), '2026-11-20T12:00:00Z');
  await app.open();
  await app.openOperation(op.operation_id);
  const files = app.page.getByRole('listitem').filter({ hasText: '.txt' });
  await expect(files.filter({ hasText: 'before.txt' })).toContainText(/removed on .*20.* by retention/);
  await expect(app.button('Download before.txt')).toHaveCount(0);
  await expect(app.button('Download after.txt')).toBeVisible();
  await accessibleInBothThemes(app.page);
});
