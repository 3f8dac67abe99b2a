import type { Locator, Page } from '@playwright/test';
import { seed } from './support/seeds';
import { accessibleInBothThemes, choose, expect, fits, mod, resize, test, type Agent, type Console, type Operation } from './support/test';

const shot = (page: Page, name: string): Promise<unknown> => (process.env.SHOTS ? page.screenshot({ path: `${process.env.SHOTS}/${name}.png` }) : Promise.resolve());
const hash = (page: Page): string => new URL(page.url()).hash;
const inboxRows = (page: Page): Locator => page.locator('.row[data-id]');
const chip = (page: Page, name: string): Locator => page.getByRole('button', { name: `Remove the filter ${name}` });
const views = (page: Page): Locator => page.getByRole('button', { name: /^Saved views/ }).filter({ visible: true });

/** Requests of two agents, for two projects, with and without a risk. */
async function fill(app: Console, bot: Agent): Promise<Operation[]> {
  const writer = await app.server.agent('doc-writer');
  const approve = (description: string, risk_level: string, project: string): object => ({ description, details: { action: `run ${description}`, risk_level }, context: { project } });
  return [
    await bot.ring(approve('Roll out web', 'high', 'web') as { description: string }),
    await bot.ring(approve('Restart web', 'low', 'web') as { description: string }),
    await bot.ring(approve('Roll out till', 'high', '/srv/till') as { description: string }),
    await writer.ring({ action_type: 'feedback', description: 'Which name?' }),
  ];
}

test('an address filters the inbox, and so do reload, back and forward', async ({ app, bot, page }) => {
  const [web, , till, name] = (await fill(app, bot)) as [Operation, Operation, Operation, Operation];
  await app.open('inbox?risk=high&project=web');
  await expect(inboxRows(page)).toHaveCount(1);
  await expect(app.row(web.operation_id)).toBeVisible();
  await expect(page.getByText('1 of 4')).toBeVisible();

  // What is opened keeps the filter beside it, also over a reload.
  await app.press('j');
  await expect(page.locator('#operation-title')).toHaveText('Roll out web');
  expect(hash(page)).toBe(`#/inbox/${web.operation_id}?risk=high&project=web`);
  await page.reload();
  await expect(page.locator('#operation-title')).toHaveText('Roll out web');
  await expect(inboxRows(page)).toHaveCount(1);

  // By keyboard: what is removed gives its place to the next.
  await chip(page, 'Project: web').focus();
  await app.press('Delete');
  await expect(inboxRows(page)).toHaveCount(2);
  await expect(chip(page, 'Risk: High risk')).toBeFocused();
  await app.press('Enter');
  await expect(inboxRows(page)).toHaveCount(4);
  await expect(app.button('Filter')).toBeFocused();
  await page.goBack();
  await expect(inboxRows(page)).toHaveCount(2);
  await page.goBack();
  await expect(inboxRows(page)).toHaveCount(1);
  await page.goForward();
  await page.goForward();
  await expect(inboxRows(page)).toHaveCount(4);

  // Each value says how many it would leave.
  await app.press('f');
  await page.getByRole('combobox', { name: 'Project' }).click();
  await expect(page.getByRole('option')).toHaveText([/All projects/, /till\s*1/, /web\s*2/, /No project named\s*1/]);
  await page.locator('[role="option"][data-value="/srv/till"]').click();
  await expect(app.row(till.operation_id)).toBeVisible();
  expect(hash(page)).toContain('project=%2Fsrv%2Ftill');
  await choose(page.getByRole('combobox', { name: 'Project' }), '-');
  await expect(app.row(name.operation_id)).toBeVisible();
  await expect(inboxRows(page)).toHaveCount(1);
  await choose(page.getByRole('combobox', { name: 'Risk' }), 'low');
  await expect(page.getByText('No matches.')).toBeVisible();
  await app.button('Clear filters').click();
  await expect(inboxRows(page)).toHaveCount(4);
  expect(hash(page)).not.toContain('?');

  // The search is in the address, too, and finds what comes later.
  await app.press('/');
  await page.getByRole('searchbox').fill('roll out');
  await expect(inboxRows(page)).toHaveCount(2);
  await expect.poll(() => hash(page)).toContain('q=roll+out');
  const late = await bot.ring({ description: 'Roll out later' });
  await expect(app.row(late.operation_id)).toBeVisible();
  await page.reload();
  await expect(inboxRows(page)).toHaveCount(3);
  await expect(page.getByRole('searchbox')).toHaveValue('roll out');
});

test('what an address asks for and Deskbell does not know is said', async ({ app, bot, page }) => {
  await fill(app, bot);
  await app.open('inbox?kind=dream&risk=high&colour=red');
  await expect(inboxRows(page)).toHaveCount(2);
  const note = page.getByText("This address has filters that Deskbell doesn't know");
  await expect(note).toContainText('kind=dream, colour=red');
  await app.button('Close').click();
  await expect(note).toBeHidden();
});

test('the history and the statistics are filtered by their address', async ({ app, bot, page }) => {
  for (const [i, op] of (await fill(app, bot)).entries()) {
    await app.server.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, digest: op.digest, ...(i < 3 && { decision: 'deny' }), human_input: 'Because' });
  }
  const hits = page.locator('a.hit');
  await app.open('history?project=web&risk=high');
  await expect(hits).toHaveText([/Roll out web/]);
  await page.reload();
  await expect(hits).toHaveText([/Roll out web/]);
  await chip(page, 'Risk: High risk').press('Backspace');
  await expect(hits).toHaveCount(2);
  await page.getByRole('searchbox').fill('restart');
  await expect(hits).toHaveText([/Restart web/]);
  await expect.poll(() => hash(page)).toBe('#/history?project=web&q=restart');
  await hits.click();
  await expect(page.locator('#operation-title')).toHaveText('Restart web');
  await page.goBack();
  await expect(hits).toHaveCount(1);
  await app.button('Clear filters').click();
  await expect(hits).toHaveCount(4);
  await choose(page.getByRole('combobox', { name: 'Project' }), '-');
  await expect(hits).toHaveText([/Which name\?/]);

  await app.go('history/statistics?days=7&project=web');
  await expect(page.getByText('2 requests match')).toBeVisible();
  await expect(page.getByRole('button', { name: '7 days' })).toHaveAttribute('aria-pressed', 'true');
  await choose(page.getByRole('combobox', { name: 'Risk' }), 'high');
  await expect(page.getByText('1 request matches')).toBeVisible();
  await page.reload();
  await expect(page.getByText('1 request matches')).toBeVisible();
  expect(hash(page)).toBe('#/history/statistics?days=7&project=web&risk=high');
  await page.getByRole('button', { name: /^denied/ }).click();
  await expect(hits).toHaveText([/Roll out web/]);
  expect(hash(page)).toMatch(/^#\/history\?project=web&risk=high&end=denied&from=.*&to=/);
  await page.reload();
  await expect(hits).toHaveText([/Roll out web/]);
  await page.goBack();
  await expect(page.getByText('1 request matches')).toBeVisible();
});

test('a filter is saved as a view, which is there after a restart of the server, in every browser', async ({ app, bot, page, browser }) => {
  const [, , till] = (await fill(app, bot)) as [Operation, Operation, Operation];
  await app.open('inbox?risk=high&agent=release-bot');
  await expect(page.getByRole('button', { name: 'Saved views' })).toBeVisible(); // it comes a moment later, and its key with it
  await app.press('Shift+f');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await page.keyboard.type('Risky ones');
  await app.press('Enter');
  await expect(dialog).toBeHidden();
  await expect(views(page)).toHaveText('Risky ones');
  // Twice the same name is refused, in words.
  await app.go('inbox?kind=feedback');
  await app.press('Shift+f');
  await page.keyboard.type('risky ONES');
  await app.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('choose another name');
  await app.press('Escape');

  await app.server.stop('SIGKILL');
  await app.server.again();
  const other = await browser.newPage();
  await other.goto((await app.server.invite()).console);
  await expect(other.locator('.row[data-id]')).toHaveCount(4);
  await other.getByRole('button', { name: 'Saved views' }).click();
  await other.getByRole('menuitem', { name: 'Risky ones' }).click();
  await expect(other.locator('.row[data-id]')).toHaveCount(2);
  await expect(other.locator(`[data-id="${till.operation_id}"]`)).toBeVisible();
  expect(hash(other)).toBe('#/inbox?agent=release-bot&risk=high');

  // From the palette, wherever one is; then among what was opened last.
  await other.goto(`${app.server.url}/#/agents`);
  await expect(other.getByRole('heading', { name: 'Agents' })).toBeVisible();
  await other.keyboard.press(`${mod}+k`);
  await expect(other.getByRole('dialog').getByRole('combobox')).toBeFocused();
  await other.keyboard.type('risky');
  await other.getByRole('group', { name: 'Saved views' }).getByRole('option', { name: /Risky ones/ }).click();
  await expect(other.locator('.row[data-id]')).toHaveCount(2);
  await other.keyboard.press(`${mod}+k`);
  await expect(other.getByRole('group', { name: 'Recent' }).getByRole('option').first()).toContainText('Risky ones');
  await other.keyboard.press('Escape');
  await expect(other.getByRole('dialog')).toBeHidden();

  await other.getByRole('button', { name: 'Saved views: Risky ones' }).click();
  await other.getByRole('menuitem', { name: 'Rename “Risky ones”…' }).click();
  await expect(other.getByRole('textbox', { name: 'Name' })).toBeFocused();
  await other.keyboard.type('Look twice');
  await other.keyboard.press('Enter');
  await expect(other.getByRole('button', { name: 'Saved views: Look twice' })).toBeVisible();
  await other.getByRole('button', { name: 'Saved views: Look twice' }).click();
  await other.getByRole('menuitem', { name: 'Delete “Look twice”…' }).click();
  await other.getByRole('dialog').getByRole('button', { name: 'Delete view' }).click();
  await expect(other.getByRole('button', { name: 'Saved views', exact: true })).toBeVisible();
  expect((await app.server.operator.call<{ views: unknown[] }>('GET', '/api/views')).views).toEqual([]);
  await other.close();
  app.errors.length = 0; // the server that was killed, and the name that was refused
});

test('a range is selected by keyboard and with Shift, and says what it left out', async ({ app, bot, page }) => {
  const ring = (description: string, risk_level = 'low'): Promise<Operation> => bot.ring({ description, details: { action: `run ${description}`, risk_level } });
  const [one, two] = [await ring('One'), await ring('Two')];
  const asked = await bot.ring({ action_type: 'feedback', description: 'Three' });
  const [four, five] = [await ring('Four', 'high'), await ring('Five')];
  await app.open('inbox');
  await expect(inboxRows(page)).toHaveCount(5);
  await app.press('j', 'Shift+J', 'Shift+J', 'Shift+J', 'Shift+ArrowDown');
  await expect(page.getByRole('heading', { name: '4 selected' })).toBeVisible();
  await expect(page.getByText('Not selected: 1 is of another kind.')).toBeVisible();
  await expect(page.getByText('risky, approve it on its page')).toBeVisible();
  await expect(app.row(asked.operation_id).getByRole('checkbox')).not.toBeChecked();
  await expect(app.row(five.operation_id).getByRole('link')).toBeFocused();
  await app.press('Shift+K', 'Shift+ArrowUp', 'Shift+K');
  await expect(page.getByRole('heading', { name: '2 selected' })).toBeVisible();
  await expect(page.getByText('Not selected:')).toBeHidden();
  await app.press('Escape');
  await expect(page.getByRole('heading', { name: /selected/ })).toBeHidden();

  // With the mouse: from a box to a box, and to a row.
  await app.row(two.operation_id).getByRole('checkbox').click({ force: true });
  await app.row(five.operation_id).getByRole('checkbox').click({ force: true, modifiers: ['Shift'] });
  await expect(page.getByRole('heading', { name: '3 selected' })).toBeVisible();
  await expect(app.row(five.operation_id).getByRole('checkbox')).toBeChecked();
  await app.row(asked.operation_id).getByRole('checkbox').click({ force: true, modifiers: ['Shift'] });
  await expect(app.row(asked.operation_id).getByRole('checkbox')).not.toBeChecked();
  await app.row(one.operation_id).getByRole('link').click({ modifiers: ['Shift'] });
  await expect(page.getByRole('heading', { name: '2 selected' })).toBeVisible();
  await app.row(five.operation_id).getByRole('link').click({ modifiers: ['Shift'] });
  await app.armed();
  await app.button('Approve 2 of 3').click();
  for (const op of [two, five]) expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
  for (const op of [one, asked, four]) expect((await bot.operation(op.operation_id)).state).toBe('pending');
});

test('the palette finds rules, has a second action, and says where it has not looked to the end', async ({ app, bot, page }) => {
  const op = await bot.ring({ action_type: 'feedback', description: 'Which lint rules?' });
  await app.server.operator.call('POST', '/api/gate/rules', { decision: 'allow', tool: 'bash', command: 'make lint' });
  await app.open('inbox');
  const options = page.getByRole('dialog').getByRole('option');
  await app.press(`${mod}+k`);
  await page.keyboard.type('lint');
  const group = (name: string): Locator => page.getByRole('dialog').getByRole('group', { name, exact: true });
  await expect(group('Requests').getByRole('option')).toContainText('Which lint rules?');
  await expect(group('Rules').getByRole('option')).toContainText('make lint');
  await group('Requests').getByRole('option').hover();
  await expect(page.getByText('open in the history')).toBeVisible();
  await app.press(`${mod}+Enter`);
  await expect(page).toHaveURL(new RegExp(`#/history/${op.operation_id}$`));

  await app.press(`${mod}+k`);
  await page.keyboard.type('make lint');
  await expect(options).toHaveCount(1);
  await app.press('Enter');
  await expect(page.locator('tr[aria-current="true"]')).toContainText('make lint');

  await page.route('**/api/search?*', (route) => route.fulfill({ json: { groups: [{ group: 'operations', count: 0, more: true, hits: [] }] } }));
  await app.press(`${mod}+k`);
  await page.keyboard.type('zzz');
  await expect(page.getByRole('dialog').getByRole('status')).toContainText('Not searched to the end: Requests');
  await page.unroute('**/api/search?*');
  await page.keyboard.type('z');
  await expect(page.getByRole('dialog').getByRole('status')).toHaveText('Nothing found.');
});

for (const language of ['en', 'zh-CN'] as const) {
  test(`WCAG 2.2 AA in both themes, and room at every width: ${language}`, async ({ app, page }) => {
    test.slow();
    const ids = await seed(app.server);
    await app.server.operator.call('POST', '/api/gate/rules', { decision: 'allow', tool: 'bash', command: 'kubectl get *' });
    for (const [name, query] of [['Risky rollouts', 'risk=high'], ['Waits for me', 'state=waiting']]) await app.server.operator.call('POST', '/api/views', { name, page: 'inbox', query });
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    await resize(page, 1440, 900);
    const looks: Record<string, () => Promise<void>> = {
      inbox: async () => {
        await app.go('inbox?kind=approve&risk=high&colour=red');
        await app.press('f');
        await expect(page.getByRole('combobox')).toHaveCount(5);
      },
      views: async () => {
        await app.press('f');
        await app.go('inbox?risk=high');
        await views(page).or(page.getByRole('button', { name: /^保存的视图/ })).first().click();
        await expect(page.getByRole('menuitem').first()).toBeVisible();
      },
      save: async () => {
        await app.press('Escape');
        await expect(page.getByRole('menu')).toHaveCount(0);
        await app.go('inbox?agent=release-bot&risk=high');
        await expect(async () => { // until the list is filtered there is nothing to save
          await app.press('Shift+f');
          await expect(page.getByRole('dialog')).toBeVisible({ timeout: 2000 });
        }).toPass();
      },
      selection: async () => {
        await app.press('Escape');
        await app.go('inbox');
        await app.row(ids.approve ?? '').getByRole('checkbox').check({ force: true });
        await app.row(ids.low ?? '').getByRole('checkbox').click({ force: true, modifiers: ['Shift'] });
        await app.armed();
      },
      palette: async () => {
        await app.press('Escape', `${mod}+k`);
        await page.keyboard.type('kubectl');
        await expect(page.getByRole('dialog').getByRole('option').nth(2)).toBeVisible();
      },
      history: async () => {
        await app.press('Escape', 'Escape');
        await app.go('history?kind=approve&risk=high&state=completed');
        await expect(page.locator('a.hit').first()).toBeVisible();
      },
      statistics: async () => {
        await app.go('history/statistics?days=90&kind=approve&agent=release-bot');
        await expect(page.locator('.tiles')).toBeVisible();
      },
    };
    await app.open('inbox');
    for (const [name, look] of Object.entries(looks)) {
      await page.emulateMedia({ colorScheme: 'light' });
      await look();
      await shot(page, `${name}-${language}-light`);
      await accessibleInBothThemes(page);
      await shot(page, `${name}-${language}-dark`);
      if (['views', 'save', 'palette'].includes(name)) continue;
      for (const width of [1000, 640, 400]) {
        await resize(page, width);
        await fits(page, '.bar .btn, .chips .btn, .chips .chip');
        await shot(page, `${name}-${language}-${width}`);
      }
      await resize(page, 1440, 900);
    }
  });
}
