import { rm } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from './support/test';

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
