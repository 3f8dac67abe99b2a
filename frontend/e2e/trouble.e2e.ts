import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { accessibleInBothThemes, expect, test } from './support/test';

test('a database that is deleted while the server runs shows at once, and stays', async ({ app, bot, page, server }) => {
  const { operation_id: id } = await bot.ring({ description: 'Deploy?', details: { action: 'make deploy', risk_level: 'low' } });
  await app.open('inbox');
  await rm(path.join(server.dir, 'deskbell.db'));
  await expect(bot.ring({ description: 'Late' })).rejects.toThrow(/503.*stores nothing more/);
  const banner = page.getByRole('alert').filter({ hasText: 'The database failed' });
  await expect(banner).toContainText(/deskbell\.db was deleted while it ran.*safe in .*deskbell\.db\.rescued-\d{8}T\d{6}Z \(operations: 1, events: 1\)/);
  await expect(banner).toContainText('Stop Deskbell');
  await expect(banner.getByRole('button')).toHaveCount(1); // copies the words; nothing closes it
  expect((await fetch(`${server.url}/healthz`)).status).toBe(503);
  await app.openOperation(id);
  await page.reload();
  await expect(banner).toBeVisible();
  app.errors.length = 0; // the browser itself reports each call that failed
});

test('what is missing after an older copy was put in place shows until the operator notes it', async ({ app, bot, page, server }) => {
  const file = path.join(server.dir, 'deskbell.db');
  await server.stop();
  const older = await readFile(file);
  await server.again();
  await bot.ring({ description: 'Deploy?', details: { action: 'make deploy', risk_level: 'low' } });
  await server.stop();
  await writeFile(file, older);
  await server.again();
  await app.open('settings');
  const banner = page.getByRole('alert').filter({ hasText: 'Something that was acknowledged is missing' });
  await expect(banner).toContainText(/all 1 entries that were acknowledged until .* are missing, of at most 1 operations/);
  await expect(page.getByRole('region', { name: 'Backups', exact: true })).toContainText(/All \d+ pages of the database were read: [^.]*\.\s+Nothing is damaged\./);
  await accessibleInBothThemes(page);
  await app.button('I have noted it').focus();
  await app.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Stop showing what is missing?' });
  await dialog.getByRole('button', { name: 'I have noted it' }).focus();
  await app.press('Enter');
  await expect(banner).toHaveCount(0);
  expect(await (await fetch(`${server.url}/healthz`)).json()).not.toHaveProperty('warning');
});
