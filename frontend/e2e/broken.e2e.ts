import { accessibleInBothThemes, expect, fits, resize, test } from './support/test';
import { calls, inWindow } from './support/window';

const broken = {
  found: [{ text: 'the file is empty, although Deskbell has worked in this folder (deskbell.head is there)' }],
  backups: [28, 27].map((day) => ({ archive_id: `2026-11-${day}T030000Z`, at: `2026-11-${day}T03:00:00Z`, files: 12, database: { operations: 7 } })),
  lines: [{ text: '6 of 9 entries of the journal can be read and are proven, 2 of them only outside of SQLite’s reach; that is 3 operations.' }, { text: 'Entries 4 to 6 are missing.' }],
  bad: '2026-11-27T030000Z',
};

test('a window whose database cannot be opened says why, and repairs it by the keyboard', async ({ app, page, server }) => {
  await inWindow(server, page, broken);
  await resize(page, 1280, 832);
  await expect(page.getByRole('heading', { name: 'The database cannot be opened' })).toBeVisible();
  await expect(page.getByRole('alert')).toContainText('the file is empty');
  await expect(page.getByRole('main')).toContainText('Entries 4 to 6 are missing.');
  await accessibleInBothThemes(page);
  await resize(page, 720, 480);
  await fits(page);
  await app.press('Tab', 'Tab', 'Tab', 'Tab');
  await expect(app.button('Repair')).toBeFocused();
  await app.press('Tab');
  await expect(app.button('Open the folder')).toBeFocused();
  await app.press('Enter', 'Tab', 'Enter');
  expect([await calls(page, 'OpenFolder'), await calls(page, 'Quit')]).toEqual([[['OpenFolder']], [['Quit']]]);
  await app.button('Repair').press('Enter');
  await expect(page.getByRole('navigation')).toBeVisible();
  expect([await calls(page, 'Plan'), await calls(page, 'Repair')]).toEqual([[['Plan']], [['Repair', '']]]);
});

test('it restores a backup by the keyboard, once the operator says so', async ({ app, page, server }) => {
  await inWindow(server, page, broken);
  await resize(page, 1280, 832);
  const restore = (nth: number) => page.getByRole('button', { name: /^Restore/ }).nth(nth);
  await expect(page.getByRole('main')).toContainText('Entries 4 to 6 are missing.');
  await app.press('Tab', 'Tab', 'Tab', 'Enter');
  const question = page.getByRole('dialog', { name: 'Restore the backup from' });
  await expect(question).toContainText('with the damaged database');
  await accessibleInBothThemes(page);
  await app.press('Enter'); // the keyboard is on what changes nothing
  await expect(question).toBeHidden();
  await expect(restore(1)).toBeFocused();
  expect(await calls(page, 'Repair')).toEqual([]);
  await app.press('Enter', 'Tab', 'Enter');
  await expect(page.getByRole('alert').last()).toContainText('2026-11-27T030000Z is damaged');
  await restore(0).press('Enter');
  await app.press('Tab', 'Enter');
  await expect(page.getByRole('navigation')).toBeVisible();
  expect(await calls(page, 'Repair')).toEqual([['Repair', '2026-11-27T030000Z'], ['Repair', '2026-11-28T030000Z']]);
});
