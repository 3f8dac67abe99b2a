import { accessibleInBothThemes, expect, test } from './support/test';

test('a request that ended is deleted from the history', async ({ app, bot, page }) => {
  const { operation_id: id } = await bot.ring({ description: 'Deploy the quarterly report?', details: { action: 'make deploy', risk_level: 'low' } });
  const { operation_id: kept } = await bot.ring({ description: 'Deploy the web?', details: { action: 'make deploy', risk_level: 'low' } });
  await bot.cancel(id, 'The plan changed');
  await bot.cancel(kept, 'The plan changed');
  await app.open(`history/${id}`);
  await app.button('Delete').first().focus();
  await app.press('Enter');
  const dialog = page.getByRole('dialog');
  await accessibleInBothThemes(page);
  await app.press('Escape');
  await expect(dialog).toHaveCount(0);
  await app.button('Delete').first().press('Enter');
  await dialog.getByRole('button', { name: 'Delete' }).press('Enter');
  await expect(dialog).toHaveCount(0);
  await expect(page.getByText('Deploy the quarterly report?')).toHaveCount(0);
  await expect(page.getByText('Deploy the web?').first()).toBeVisible();
  await expect(bot.call('GET', `/api/human/operations/${id}`)).rejects.toThrow(/404.*was deleted on/);
  await page.reload();
  await expect(page.getByText('Deploy the web?').first()).toBeVisible();
  app.errors.length = 0; // the browser itself reports each call that failed
});
