import { nothing, removable } from './support/retained';
import { accessibleInBothThemes, expect, test } from './support/test';

// What is removed is tested with the server (backend/app/retention_test.go): nothing here is old enough. The page is shown what a server
// with old recordings answers.
test('settings show what retention would remove, and it is removed after a question', async ({ app, page }) => {
  await app.open('settings');
  const part = page.getByRole('region', { name: 'What retention removes' });
  await expect(part).toContainText('Retention is off: nothing is removed.');
  const row = page.locator('[data-setting="retention.pictures_days"]');
  await row.getByRole('spinbutton').fill('30');
  await app.press('Enter');
  await expect(row).toContainText('Settings file');
  await expect(part).toContainText('There is nothing to remove.');

  let ran = false;
  await page.route('**/api/retention/preview', (route) => route.fulfill({ json: ran ? nothing : removable }));
  await page.route('**/api/retention/run', (route) => {
    ran = true;
    return route.fulfill({ json: removable });
  });
  await app.go('inbox');
  await app.go('settings');
  await expect(part).toContainText("It would remove recordings' pictures: 6 (6 MB), attached files: 1 (1 MB), requests and answers: 2 (3 kB).");
  await expect(part.getByRole('listitem')).toHaveCount(5);
  await part.getByRole('button', { name: 'Show all 10' }).click();
  await expect(part.getByRole('listitem')).toHaveCount(9);
  await expect(part).toContainText('and 1 more');
  await accessibleInBothThemes(page);

  await part.getByRole('button', { name: 'Remove now' }).click();
  const question = page.getByRole('dialog', { name: 'Remove this for good?' });
  await expect(question).toContainText("You can't undo it.");
  await question.getByRole('button', { name: 'Cancel' }).click();
  expect(ran).toBe(false);
  await part.getByRole('button', { name: 'Remove now' }).click();
  await question.getByRole('button', { name: 'Remove', exact: true }).click();
  await expect(part).toContainText("Removed: recordings' pictures: 6 (6 MB), attached files: 1 (1 MB), requests and answers: 2 (3 kB).");
  await expect(part).toContainText('There is nothing to remove.');

  // Who comes to a request that was removed reads when and why.
  const detail = 'operation op_2 was removed on 2026-11-26 by retention';
  await page.route('**/api/human/operations/op_2?*', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', json: { title: 'Not Found', status: 404, detail } }));
  await page.route('**/api/human/operations/op_2', (route) => route.fulfill({ status: 404, contentType: 'application/problem+json', json: { title: 'Not Found', status: 404, detail } }));
  await app.go('history/op_2');
  await expect(page.getByRole('heading', { name: 'Request not found' })).toBeVisible();
  await expect(page.getByText(detail)).toBeVisible();
  app.errors.length = 0; // the page logs the 404
});
