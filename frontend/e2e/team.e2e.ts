import { Hub } from './support/hub';
import { Server } from './support/server';
import { accessibleInBothThemes, choose, expect, fits, resize, test } from './support/test';

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

test('a desk leaves its team in the settings, and says what it keeps', async ({ app, page }) => {
  const hub = await Hub.start('Blue');
  try {
    await hub.join(app.server, 'Ann', 'operator');
    const bot = await (await app.server.agent('release-bot')).ring({ action_type: 'feedback', description: 'Which region?' });
    await app.open('settings');
    const team = page.getByRole('region', { name: 'Team' }).last(); // the first has settings
    await team.scrollIntoViewIfNeeded();
    await expect(team).toContainText('Connected since');
    await team.getByRole('button', { name: 'Leave the team…' }).click();
    const dialog = page.getByRole('dialog', { name: 'Leave the team Blue?' });
    await expect(dialog).toContainText("Open requests of this desk's agents are canceled");
    await expect(dialog).not.toContainText("isn't connected");
    await accessibleInBothThemes(page);
    await fits(page, '[role=dialog] button');
    await dialog.getByRole('button', { name: 'Leave', exact: true }).click();
    await expect(team).toContainText('Left. Start Deskbell again.');
    await expect(team.getByRole('status')).toContainText(/Requests kept here: 1\. Events: \d+\. Hash: [0-9a-f]{64}/);
    await expect(team.getByRole('button', { name: 'Leave the team…' })).toBeHidden();
    await expect(page.getByRole('link', { name: 'Team' })).toBeHidden();
    await (await app.server.agent('release-bot')).until(bot.operation_id, (op) => op.state === 'cancelled');

    await page.goto('about:blank');
    await app.server.stop();
    await app.server.again();
    await app.open('settings');
    await team.scrollIntoViewIfNeeded();
    await expect(team.getByRole('textbox', { name: 'Link to join a team' })).toBeVisible();
  } finally {
    await hub.end();
  }
});
