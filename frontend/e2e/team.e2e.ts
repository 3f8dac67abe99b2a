import { readFile } from 'node:fs/promises';
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

    // What the page shows is saved: no formula, and no number where there is nothing to count.
    const formula = await (await app.server.agent('release-bot')).ring({ action_type: 'feedback', description: '=1+1, "智能体"\nand more', timeout: 0 });
    await app.server.operator.call('POST', '/api/human/claim', { operation_id: formula.operation_id });
    await expect(page.getByRole('region', { name: 'Claims and hand-over' })).toContainText('2 of 2, overdue first', { timeout: 20_000 });
    const save = async (format: string): Promise<string> => {
      const saving = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export…' }).press('Enter');
      await page.getByRole('menuitem', { name: format }).press('Enter');
      const file = await saving;
      expect(file.suggestedFilename()).toMatch(new RegExp(`^deskbell-team-Blue-\\d{4}-\\d\\d-\\d\\d\\.${format.toLowerCase()}$`));
      return readFile(await file.path(), 'utf8');
    };
    const tables = (await save('CSV')).split('\n\n').map((table) => table.split('\n'));
    expect(tables.map(([head]) => head?.split(',')[0])).toEqual(['team', 'person', 'skill', 'project', 'operation_id']);
    const [figures = [], persons = [], , weeks = [], claims = []] = tables;
    expect(figures[1]).toMatch(/^Blue,\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ,yes,2,0,1,/);
    expect(persons.slice(1)).toEqual(['Ann,lead,on,,,1,,,yes,', 'Tom,operator,on,,,1,,,yes,']);
    expect(weeks[1]).toMatch(/^\(all requests\),\d{4}-\d\d-\d\d,0,,,,$/);
    expect(claims[1]).toMatch(new RegExp(`^${bot.operation_id},feedback,Which region\\?,`)); // the overdue first
    expect(claims.slice(2).join('\n')).toMatch(new RegExp(`^${formula.operation_id},feedback,"'=1\\+1, ""智能体""\nand more",`));
    expect(JSON.parse(await save('JSON'))).toMatchObject({ claimed: 2, overdue: 1, people: [{ name: 'Ann', claims: 1 }, { name: 'Tom', claims: 1 }] });

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
    await expect(dialog.getByRole('textbox').first()).toBeFocused();
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

test('whoever is asked sees who else is, and the inbox shows what is theirs', async ({ app, page }) => {
  test.setTimeout(180_000);
  const hub = await Hub.start('Blue');
  const tom = await Server.start();
  const mei = await Server.start();
  try {
    await hub.join(app.server, 'Ann', 'operator');
    await hub.join(tom, 'Tom', 'operator');
    await hub.join(mei, 'Mei', 'operator');
    const ofTom = await tom.agent('release-bot');
    const ring = (description: string): Promise<{ operation_id: string }> => ofTom.ring({ action_type: 'feedback', description, timeout: 0, context: { project: 'shop' } });
    const here = (id: string): Promise<{ routing?: { names: string[] }[]; others_asked?: boolean; claimed_by?: string }> => app.server.operator.call('GET', `/api/human/operations/${id}`);
    const known = async (id: string): Promise<void> => void (await expect.poll(async () => (await here(id).catch(() => undefined))?.routing?.length, { timeout: 40_000 }).toBeGreaterThan(0));

    // Everyone is connected: the first is asked of Ann, whose name comes first, then of Mei.
    await expect.poll(async () => (await app.server.operator.call<{ people: { connected: boolean }[] }>('GET', '/api/team/board')).people.filter(({ connected }) => connected).length, { timeout: 60_000 }).toBe(3);
    const mine = await ring('Which region?');
    await known(mine.operation_id);
    const claimed = await ring('Which size?');
    await known(claimed.operation_id);
    await app.server.operator.call('POST', '/api/human/claim', { operation_id: claimed.operation_id });
    const others = await (await app.server.agent('release-bot')).ring({ action_type: 'feedback', description: 'Which color?', timeout: 0 });
    await known(others.operation_id);
    const handed = await ring('Which price?');
    await known(handed.operation_id);
    await mei.operator.call('POST', `/api/operations/${handed.operation_id}/handover`, { to: 'Ann', note: 'You know it' });

    await app.open('inbox');
    const groups = page.locator('.rows .group');
    await expect(groups).toHaveText([/New for you\s*1/, /Handed over to you\s*1/, /Claimed by you\s*1/, /Others\s*1/], { timeout: 20_000 });
    await expect(app.row(others.operation_id)).toContainText('asked: Mei');
    await expect(app.row(handed.operation_id)).toContainText('from Mei');
    await expect(page).toHaveTitle('(2) Deskbell');
    await accessibleInBothThemes(page);

    await app.openOperation(mine.operation_id);
    await expect(page.getByText(/^Asked: you; at \d\d:\d\d: Mei/)).toBeVisible();
    await expect(page.getByText(/Why: of those who are here, Ann has the fewest claims/)).toBeVisible();
    await accessibleInBothThemes(page);
    await app.press('c');
    await expect(page.getByRole('article')).toContainText('Claimed by you');
    await app.press('z');
    await expect(page.getByRole('article')).not.toContainText('Claimed by you');
    await resize(page, 390, 780);
    await fits(page, '.asked');

    const { code } = await app.server.invite();
    await page.goto('about:blank');
    await page.goto(`${app.server.url}/?view=popup#code=${code}`);
    await expect(page.getByRole('article', { name: 'Which region?' })).toContainText(/Asked: you; at \d\d:\d\d: Mei/);
    await expect(page.getByRole('article')).toHaveCount(2);
    const given = page.getByRole('article', { name: 'Which price?' });
    await expect(given).toContainText('Mei handed it over to you. Claim it to answer.');
    await expect(given).toContainText('“You know it”');
    await accessibleInBothThemes(page);
    await given.getByRole('button', { name: 'Claim' }).click();
    await expect(given.getByRole('button', { name: 'Send' })).toBeVisible();
    expect((await here(handed.operation_id)).claimed_by).toBe('Ann');

    await page.goto('about:blank');
    await app.open('settings');
    await resize(page, 1280, 800);
    await expect(page.getByRole('heading', { name: 'Team', exact: true })).toHaveCount(1);
    await expect(page.locator('[data-setting="team.second_approval"]')).toBeVisible();
  } finally {
    await mei.end();
    await tom.end();
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

test('a lead deletes a request on all desks', async ({ app, page }) => {
  test.setTimeout(120_000);
  const hub = await Hub.start('Blue');
  const there = await Server.start();
  try {
    await hub.join(there, 'Tom', 'operator');
    await hub.join(app.server, 'Ann', 'lead');
    const bot = await there.agent('release-bot');
    const ended = await bot.ring({ action_type: 'feedback', description: 'Which password?', timeout: 0 });
    await bot.cancel(ended.operation_id, 'Found it');
    const at = (server: Server): Promise<string> => server.operator.call('GET', `/api/human/operations/${ended.operation_id}`).then((op) => String((op as { state: string }).state), String);
    await expect.poll(() => at(app.server), { timeout: 20_000 }).toBe('cancelled');

    await app.open(`history/${ended.operation_id}`);
    await app.button('Delete').first().press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('checkbox', { name: 'On all desks of the team' }).press('Space');
    await accessibleInBothThemes(page);
    await dialog.getByRole('button', { name: 'Delete' }).press('Enter');
    await expect(dialog).toHaveCount(0);
    await expect.poll(() => at(there), { timeout: 20_000 }).toContain('was deleted on');
    app.errors.length = 0; // the browser itself reports each call that failed
  } finally {
    await there.end();
    await hub.end();
  }
});

test('what is decided offline waits, can be discarded, and is sent or came too late', async ({ app, page }) => {
  test.setTimeout(240_000);
  const hub = await Hub.start('Blue');
  const tom = await Server.start();
  try {
    await hub.join(app.server, 'Ann', 'operator');
    await hub.join(tom, 'Tom', 'operator');
    const bot = await tom.agent('release-bot');
    const at = (server: Server, id: string): Promise<Told> => server.operator.call<Told>('GET', `/api/human/operations/${id}`).catch(() => ({ state: '', digest: '' }));
    const ring = async (description: string, risk_level: string): Promise<string> => {
      const { operation_id: id } = await bot.ring({ action_type: 'approve', description, timeout: 0, details: { action: 'make deploy', risk_level } });
      await expect.poll(async () => (await at(app.server, id)).routing?.length, { timeout: 40_000 }).toBeGreaterThan(0);
      return id;
    };
    const [sent, late, handed] = [await ring('Roll out the API', 'high'), await ring('Drop a table', 'critical'), await ring('Rotate a key', 'medium')];

    await app.open('inbox');
    await app.openOperation(sent); // a page that is open follows how the desk stands
    await expect(app.button('Snooze')).toBeEnabled();
    hub.pause();
    const note = page.getByRole('main').locator('.notes');
    await expect(note).toContainText('Offline since', { timeout: 60_000 });
    await expect(note).toContainText('a denial, a decline or a hand-over waits here');
    const pane = page.getByRole('article');
    await expect(pane).toContainText('This desk is offline. You can deny, decline or hand over');
    await expect(app.button('Approve')).toBeDisabled();
    await expect(app.button('Snooze')).toBeDisabled();
    await page.getByRole('textbox', { name: 'Reason' }).fill('not on Sunday');
    await app.button('Deny with reason').click();
    await expect(pane).toContainText(/You denied it at .* It is sent once this desk is connected/);
    await expect(pane).toContainText('not on Sunday');
    await expect(app.row(sent)).toContainText('waits to be sent');
    await expect(note.getByRole('listitem')).toHaveCount(1);
    await accessibleInBothThemes(page);
    await fits(page, '.notes button, .op button');

    // A hand-over, by keyboard, discarded in the list.
    await app.openOperation(handed);
    await app.press('g');
    const dialog = page.getByRole('dialog');
    await choose(dialog.getByRole('combobox', { name: 'To' }), 'Tom');
    await expect(dialog).toContainText('This desk is offline: it waits here');
    await dialog.getByRole('button', { name: 'Hand over' }).click();
    await expect(pane).toContainText('You handed it over to Tom');
    await note.getByRole('button', { name: 'Discard what was decided: Rotate a key' }).press('Enter');
    await expect(pane).not.toContainText('You handed it over to Tom');

    await app.openOperation(late);
    await page.getByRole('textbox', { name: 'Reason' }).fill('keep it');
    await app.button('Deny with reason').click();
    await expect(pane).toContainText(/You denied it at/);

    // Tom is first with one of them.
    await page.goto('about:blank');
    await app.server.stop();
    hub.continue();
    await expect.poll(async () => (await tom.operator.call<{ online: boolean }>('GET', '/api/team')).online, { timeout: 60_000 }).toBe(true);
    await tom.operator.call('POST', '/api/human/complete', { operation_id: late, decision: 'approve', human_input: 'restored and counted', digest: (await at(tom, late)).digest });
    await app.server.again();
    await expect.poll(async () => (await at(tom, sent)).result?.human_input, { timeout: 60_000 }).toBe('not on Sunday');
    await app.open(`history/${late}`);
    await expect(note).toContainText('What you decided offline came too late, and was not sent', { timeout: 60_000 });
    await expect(pane).toContainText(/You denied it at .* Not sent: Tom answered it first/);
    await expect(pane).toContainText('keep it');
    await expect(pane).toContainText('restored and counted');
    await accessibleInBothThemes(page);
    await pane.getByRole('button', { name: 'OK' }).press('Enter');
    await expect(note).toHaveCount(0);
    expect((await at(tom, handed)).hand_over).toBeUndefined();
    app.errors.length = 0; // the browser itself reports each call that failed
  } finally {
    await tom.end();
    await hub.end();
  }
});

test('what a team has that this desk left is read only, and waits for no answer', async ({ app, page }) => {
  test.setTimeout(120_000);
  const hub = await Hub.start('Blue');
  const there = await Server.start();
  try {
    await hub.join(app.server, 'Ann', 'operator');
    await hub.join(there, 'Tom', 'operator');
    const asked = await (await there.agent('release-bot')).ring({ action_type: 'feedback', description: 'Which region?', timeout: 0 });
    await app.open('inbox');
    const row = page.getByRole('link', { name: 'Which region?' });
    await row.click({ timeout: 40_000 });
    const note = page.getByText('This is from before this desk left its team.');
    const fields = page.getByRole('main').getByRole('textbox');
    await expect(fields.first()).toBeVisible();

    await app.server.operator.call('POST', '/api/team/leave', {});
    await expect(note).toBeVisible();
    await expect(fields).toHaveCount(0);
    await expect(row).toBeHidden();
    await accessibleInBothThemes(page);

    await app.go(`history/${asked.operation_id}`);
    await expect(note).toBeVisible();
    await expect(page.getByRole('main')).toContainText('read only');
  } finally {
    await there.end();
    await hub.end();
  }
});

interface Told {
  state: string;
  digest: string;
  routing?: unknown[];
  result?: { human_input: string };
  hand_over?: unknown;
}
