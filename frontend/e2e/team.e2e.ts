import { Hub } from './support/hub';
import { Server } from './support/server';
import { accessibleInBothThemes, choose, expect, fits, mod, resize, test } from './support/test';

test('who leads a team sees how it stands, and hands over what is overdue', async ({ app, page }) => {
  test.setTimeout(120_000);
  const hub = await Hub.start('Blue');
  const there = await Server.start();
  try {
    await app.open();
    await expect(page.getByRole('link', { name: 'Team' })).toBeHidden(); // the desk is in no team
    await page.goto('about:blank');
    await hub.join(app.server, 'Ann', 'lead');
    await app.open('team');
    await expect(page.getByText('No one else is in the team yet')).toBeVisible();
    await hub.join(there, 'Tom', 'operator');
    const bot = await (await app.server.agent('release-bot')).ring({ action_type: 'feedback', description: 'Which region?', timeout: 1, context: { project: 'shop' } });
    await app.server.operator.call('POST', '/api/human/claim', { operation_id: bot.operation_id });
    await (await app.server.agent('release-bot')).until(bot.operation_id, (op) => op.overdue);

    const people = page.getByRole('region', { name: 'People' });
    await expect(people.getByRole('row', { name: /Ann \(you, lead\)/ })).toContainText('connected');
    await expect(page.getByText('2 of 2 members connected')).toBeVisible({ timeout: 40_000 });
    await expect(page.locator('.tiles')).toContainText('1 claimed, 0 waiting');
    await expect(page.getByText(/^you, overdue/)).toBeVisible();
    await accessibleInBothThemes(page);
    await resize(page, 900, 640);
    await fits(page, '.bar button');

    await app.press('g');
    await expect(page.getByRole('dialog')).toContainText('Which region?');
    await choose(page.getByRole('combobox', { name: 'To' }), 'Tom');
    await page.getByRole('textbox', { name: 'Note' }).fill('It is yours');
    await accessibleInBothThemes(page);
    await page.getByRole('dialog').getByRole('button', { name: 'Hand over' }).click();
    await expect(page.getByText('you to Tom')).toBeVisible();
    await expect(page.getByText('Note: It is yours')).toBeVisible();
    await expect(page.getByRole('button', { name: /Hand over 1 overdue/ })).toBeHidden();
    await there.operator.call('POST', '/api/human/claim', { operation_id: bot.operation_id });
    // What happens at another desk shows by itself.
    await expect(page.getByText(/^Tom, overdue/)).toBeVisible({ timeout: 20_000 });

    await page.getByRole('button', { name: 'Which region?', exact: true }).click();
    await expect(page).toHaveURL(new RegExp(bot.operation_id));
  } finally {
    await there.end();
    await hub.end();
  }
});

test('who leads a team invites and removes members, and everyone sees it', async ({ app, page }) => {
  test.setTimeout(120_000);
  const hub = await Hub.start('Blue');
  const there = await Server.start();
  try {
    await hub.join(app.server, 'Ann', 'lead');
    await app.open('team');
    const people = page.getByRole('region', { name: 'People' });
    const roster = page.getByRole('region', { name: 'Who is in the team' });
    const dialog = page.getByRole('dialog');
    await expect(roster).toContainText('Ann joined (lead)');

    await page.getByRole('button', { name: 'Invite…' }).focus();
    await page.keyboard.press('Enter');
    await expect(dialog.getByRole('button', { name: 'Make link' })).toBeDisabled();
    await page.keyboard.type('Tom');
    await choose(dialog.getByRole('combobox', { name: 'Role' }), 'auditor');
    await choose(dialog.getByRole('combobox', { name: 'Role' }), 'operator');
    await accessibleInBothThemes(page);
    await page.keyboard.press(`${mod}+Enter`);
    const link = dialog.getByRole('textbox', { name: 'Link to join' });
    await expect(link).toBeFocused();
    await accessibleInBothThemes(page);
    const text = await link.inputValue();
    await page.keyboard.press('Escape');
    await expect(dialog).toBeHidden();
    await expect(roster).toContainText('Ann invited Tom (operator)');
    await expect(roster).not.toContainText(text);

    await there.join(text);
    await expect(people.getByRole('row', { name: /Tom/ })).toContainText('connected', { timeout: 40_000 });
    await expect(roster).toContainText('Tom joined (operator)');
    await expect(roster).not.toContainText('Tom (operator), link open');

    // A link that no one has used: the first lead's, which the hub made.
    await roster.getByRole('button', { name: 'Withdraw the link for' }).click();
    await dialog.getByRole('button', { name: 'Withdraw' }).click();
    await expect(roster).not.toContainText('link open');

    await page.getByRole('button', { name: 'Actions for Ann' }).click();
    await page.getByRole('menuitem', { name: 'Another desk…' }).click();
    await dialog.getByRole('button', { name: 'Make link' }).click();
    await expect(dialog).toContainText('joins as Ann');
    await dialog.getByRole('button', { name: 'Close' }).click();
    await expect(roster).toContainText('Ann (lead), link open');
    await expect(roster.getByRole('button', { name: /Withdraw/ })).toBeHidden(); // Ann is in

    await page.getByRole('button', { name: 'Actions for Tom' }).click();
    await page.getByRole('menuitem', { name: 'Change…' }).click();
    await page.keyboard.type('databases, billing');
    await dialog.getByRole('textbox', { name: 'Working hours' }).fill('mon-fri 9-17');
    await accessibleInBothThemes(page);
    await page.keyboard.press(`${mod}+Enter`);
    await expect(dialog.getByRole('alert')).toContainText('“mon-fri 9-17”');
    await dialog.getByRole('textbox', { name: 'Working hours' }).fill('mon-sun 00:00-00:00');
    await dialog.getByRole('textbox', { name: 'Time zone' }).fill('Europe/Berlin');
    await page.keyboard.press(`${mod}+Enter`);
    await expect(dialog).toBeHidden();
    await expect(people.getByRole('row', { name: /Tom/ })).toContainText('databases, billing');

    await page.getByRole('button', { name: 'Rules…' }).click();
    const rules = dialog.getByRole('textbox', { name: "The team's rules" });
    await expect(rules).toBeFocused();
    await rules.fill('second_approval = "high"\n[[rool]]');
    await page.keyboard.press(`${mod}+Enter`);
    await expect(dialog.getByRole('alert')).toContainText('line 2: rules have no rool');
    await accessibleInBothThemes(page);
    app.errors.length = 0; // a refused call is logged by the browser
    await page.keyboard.press('Backspace'); // the line is selected
    await page.keyboard.press(`${mod}+Enter`);
    await expect(dialog).toBeHidden();
    expect(await there.operator.call('GET', '/api/team/rules')).toMatchObject({ text: 'second_approval = "high"\n' });

    await page.getByRole('button', { name: 'Actions for Tom' }).click();
    await page.getByRole('menuitem', { name: 'Remove…' }).click();
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await accessibleInBothThemes(page);
    await dialog.getByRole('button', { name: 'Remove' }).click();
    await expect(roster).toContainText('Ann removed Tom');
    await expect(people.getByRole('row', { name: /Tom/ })).toBeHidden({ timeout: 20_000 });
    await accessibleInBothThemes(page);
    await resize(page, 900, 640);
    await fits(page, '.bar button');
  } finally {
    await there.end();
    await hub.end();
  }
});
