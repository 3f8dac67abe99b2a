import { accessibleInBothThemes, expect, test } from './support/test';

test('settings make a backup and say what is in it', async ({ app, page }) => {
  await app.open('settings');
  const part = page.getByRole('region', { name: 'Backups', exact: true });
  await expect(part).toContainText('There is no backup yet.');
  await expect(part).toContainText('is on the same disk as the data');
  await part.getByRole('button', { name: 'Back up now' }).focus();
  await app.press('Enter');
  await expect(part).toContainText('Last good backup: ');
  await expect(part.getByRole('listitem')).toHaveCount(1);
  await expect(part.getByRole('listitem')).toContainText('Verified');
  await part.getByRole('button', { name: 'What is in it' }).focus();
  await app.press('Enter');
  await expect(part).toContainText("Missing today: 0. Only in today's data: 0. Changed since: 0.");
  await expect(part).toContainText('quit Deskbell and run deskbell restore ');
  await accessibleInBothThemes(page);
});
