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

  const none = { off: false, at: '2026-11-26T12:00:00Z', bytes: 5_000_000, pictures: { count: 0, bytes: 0 }, attachments: { count: 0, bytes: 0 }, recordings: { count: 0, bytes: 0 }, requests: { count: 0, bytes: 0 }, removed_bytes: 0, items: [], more: 0 };
  const item = { operation_id: 'op_1', ended_at: '2026-10-01T12:00:00Z', bytes: 1_000_000, why: 'age' };
  const plan = {
    ...none, bytes: 12_000_000, pictures: { count: 6, bytes: 6_000_000 }, attachments: { count: 1, bytes: 1_000_000 }, requests: { count: 2, bytes: 3_000 }, removed_bytes: 7_003_000, more: 1,
    items: [{ ...item, what: 'attachment', attachment_id: 'att_1' }, ...[1, 2, 3, 4, 5, 6].map((n) => ({ ...item, what: 'pictures', recording_id: `rec_${n}` })), { ...item, what: 'request', operation_id: 'op_2' }, { ...item, what: 'request', operation_id: 'op_3' }],
  };
  let ran = false;
  await page.route('**/api/retention/preview', (route) => route.fulfill({ json: ran ? none : plan }));
  await page.route('**/api/retention/run', (route) => {
    ran = true;
    return route.fulfill({ json: plan });
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
  await expect(question).toContainText("what was asked and answered, and their receipts, don't");
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
