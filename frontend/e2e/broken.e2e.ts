import { accessibleInBothThemes, expect, fits, resize, test } from './support/test';
import { calls, inWindow } from './support/window';

const broken = {
  found: [{ text: 'the file is empty, although Deskbell has worked in this folder (deskbell.head is there)' }],
  backups: [{ archive_id: '2026-11-28T030000Z', at: '2026-11-28T03:00:00Z', database: { operations: 7 } }],
  lines: [{ text: '6 of 9 entries of the journal can be read and are proven, 2 of them only outside of SQLite’s reach; that is 3 operations.' }, { text: 'Entries 4 to 6 are missing.' }],
};

test('a window whose database cannot be opened says why, and repairs it by the keyboard', async ({ app, page, server }) => {
  await inWindow(server, page, broken);
  await resize(page, 1280, 832);
  await expect(page.getByRole('heading', { name: 'The database cannot be opened' })).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('the file is empty');
  await expect(page.getByRole('main')).toContainText('Entries 4 to 6 are missing.');
  await expect(page.getByRole('main')).toContainText('deskbell restore 2026-11-28T030000Z --all');
  await accessibleInBothThemes(page);
  await resize(page, 720, 480);
  await fits(page);
  await app.press('Tab', 'Tab');
  await expect(app.button('Repair')).toBeFocused();
  await app.press('Tab');
  await expect(app.button('Open the folder')).toBeFocused();
  await app.press('Enter', 'Tab', 'Enter');
  expect([await calls(page, 'OpenFolder'), await calls(page, 'Quit')]).toEqual([[['OpenFolder']], [['Quit']]]);
  await app.button('Repair').press('Enter');
  await expect(page.getByRole('navigation')).toBeVisible();
  expect(await calls(page, 'Repair')).toEqual([['Repair', false], ['Repair', true]]);
});
