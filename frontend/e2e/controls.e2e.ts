import { accessible, expect, test } from './support/test';

test('a list in a dialog is opened, searched and left with the keyboard, and its letters are no commands', async ({ app, page, bot }) => {
  await bot.ring({ description: 'Hello' });
  await app.open('gatekeeper');
  await app.button('Add').click();
  const dialog = page.getByRole('dialog');
  const until = dialog.getByRole('combobox', { name: 'Until' });
  await until.focus();
  await app.press('ArrowDown');
  const list = page.getByRole('listbox', { name: 'Until' });
  await expect(list.getByRole('option').first()).toBeVisible();
  await accessible(page);
  // Escape leaves the list, not the dialog.
  await app.press('Escape');
  await expect(list).toHaveCount(0);
  await expect(dialog).toBeVisible();
  await expect(until).toBeFocused();
  await app.press('Enter', 'ArrowDown', 'Enter');
  await expect(list).toHaveCount(0);
  await expect(until).toHaveText('for one hour');
  // A mouse reaches the list, although all but the dialog is out of reach.
  await until.click();
  await list.getByRole('option', { name: 'for 7 days' }).click();
  await expect(until).toHaveText('for 7 days');
  await until.focus();
  await page.keyboard.type('t');
  await expect(dialog).toBeVisible();
  await expect(until).toBeFocused();
});

test('what a sign means is told to the pointer and to the keyboard, and Escape takes it away', async ({ app, page, bot }) => {
  const op = await bot.ring({ description: 'Hello', details: { action: 'make', risk_level: 'low' } });
  await app.open();
  await app.openOperation(op.operation_id);
  const code = page.locator('header code').first();
  await code.hover();
  const tooltip = page.getByRole('tooltip');
  await expect(tooltip).toHaveText(op.operation_id);
  expect(await code.getAttribute('aria-describedby')).toBe(await tooltip.getAttribute('id'));
  await accessible(page);
  await app.press('Escape');
  await expect(tooltip).toHaveCount(0);
  await app.go('gatekeeper');
  const policy = page.getByRole('radio', { name: 'Strict' });
  await page.getByRole('radio', { name: 'Balanced' }).focus();
  await app.press('ArrowLeft');
  await expect(policy).toBeFocused();
  await expect(policy).not.toBeChecked();
  await expect(tooltip).toBeVisible();
  expect(await policy.getAttribute('title')).toBeNull();
});
