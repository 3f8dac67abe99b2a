import { readFile } from 'node:fs/promises';
import type { Locator, Page } from '@playwright/test';
import { Screen } from './support/screen';
import { Server } from './support/server';
import { accessibleInBothThemes, choose, Console, expect, fits, mod, resize, test } from './support/test';
import { browserPath, Vendor } from './support/vendor';
import { calls, emit, inWindow } from './support/window';

const file = `deskbell_procedure: 1
name: export_invoice
title: Export an invoice
where: browser
does: [reads]
parameters:
  - {name: customer, type: text, examples: [Nordwind]}
  - {name: month, type: month, examples: [2026-09]}
outputs:
  - {name: total, type: text}
steps:
  - id: s1
    do: navigate
    title: Open the portal
    url: https://billing.portal.example/?month={month}
    then: [{is: element, target: {role: heading, name: Sign in}}]
  - id: s2
    do: change
    title: Search for {customer}
    text: "{customer}"
    target: {role: searchbox, name: Customer}
    then: [{is: text, text: "{customer}"}]
  - id: s3
    do: change
    title: Type the year
    text: "2026"
    target: {role: textbox, name: Year}
    form: [{role: searchbox, name: Customer, optional: true}, {role: combobox, name: Kind, holds: Paid}]
    says: ["Invoices of {customer}", A mail is sent.]
    then: [{is: text, text: 1 invoice}]
  - id: s4
    do: pick
    title: Read the total
    output: total
    target: {role: cell, name: Total}
    then: [{is: text, text: Total}]
`;

interface Shown {
  version: number;
  file: string;
  procedure: { title: string; parameters: { name: string; examples?: string[] }[]; steps: { id: string; title: string; text?: string; optional?: boolean; says?: string[]; form?: { role: string; name: string; holds?: string; optional?: boolean }[]; then?: { is: string; text?: string }[] }[] };
}

/** Gives the page a file to import. */
async function give(page: Page, name: string, text: string): Promise<Locator> {
  await page.locator('input[type="file"]').setInputFiles({ name, mimeType: 'application/yaml', buffer: Buffer.from(text) });
  return page.getByRole('dialog');
}

test('a file of a procedure is imported, looked at and exported as it was', async ({ app, page }) => {
  await app.open('procedures');
  await expect(page.getByText('Answer a request for work in a browser or on the desktop with a recording, then choose Teach…')).toBeVisible();
  await accessibleInBothThemes(page);

  const broken = await give(page, 'broken.yaml', file.replace('where:', 'wher:'));
  await expect(broken).toContainText('Line 4: there is no field "wher"');
  app.errors.length = 0; // the browser reports what a server does not accept
  await expect(broken.getByRole('button', { name: 'Save procedure' })).toBeDisabled();
  await app.press('Escape');

  const dialog = await give(page, 'invoice.yaml', file);
  await expect(dialog).toContainText('procedure_export_invoice');
  await accessibleInBothThemes(page);
  await dialog.getByRole('button', { name: 'Save procedure' }).click();

  // Its page says what it does, and what agents call.
  await expect(page.getByRole('heading', { name: 'Export an invoice' })).toBeVisible();
  await expect(page.getByText('Not run yet. Run it once while you watch.')).toBeVisible();
  await expect(page.locator('.st li').nth(2)).toContainText('Search for customer');
  await expect(page.locator('.schema')).toContainText('total');
  await expect(page.getByText('Imported from invoice.yaml')).toBeVisible();
  await accessibleInBothThemes(page);

  const saving = page.waitForEvent('download');
  await page.getByRole('button', { name: 'More' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Export YAML file' }).press('Enter');
  const saved = await saving;
  expect(saved.suggestedFilename()).toBe('export_invoice.yaml');
  expect(await readFile(await saved.path(), 'utf8')).toBe(file);
  await page.getByRole('button', { name: 'More' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Show as YAML' }).press('Enter');
  await expect(page.getByRole('dialog')).toContainText('deskbell_procedure: 1');
  await app.press('Escape');

  // The same name again is a version of it, and is asked about.
  await app.press('Escape');
  const again = await give(page, 'new.yaml', file.replace('1 invoice', '2 invoices'));
  await again.getByRole('button', { name: 'Save procedure' }).click();
  await expect(again).toContainText('There is a procedure “export_invoice” already');
  app.errors.length = 0;
  await again.getByRole('button', { name: 'Save version 2' }).click();
  await expect(again).toBeHidden(); // it names the version, too
  await expect(page.getByText('version 2')).toBeVisible();
  await page.getByRole('button', { name: 'Compare' }).click();
  await expect(page.getByRole('dialog').locator('.add')).toContainText('2 invoices');
  await expect(page.getByRole('dialog').locator('.del')).toContainText('1 invoice');
  await app.press('Escape');

  // On a narrow page everything can be reached, too.
  await resize(page, 400, 760);
  await fits(page, '.bar button, header button');
  await resize(page, 1280, 800);
  await page.getByRole('button', { name: 'More' }).press('Enter');
  await page.getByRole('menuitem', { name: 'Delete…' }).press('Enter');
  await expect(page.getByRole('dialog')).toContainText('All 2 versions are deleted');
  await page.getByRole('dialog').getByRole('button', { name: 'Delete procedure' }).click();
  await expect(page.getByText('No procedures yet')).toBeVisible();
});

test('steps are edited with the keyboard, and saved as the next version', async ({ app, page, server }) => {
  const shown = (): Promise<Shown> => server.operator.call('GET', '/api/procedures/export_invoice');
  await server.operator.call('POST', '/api/procedures', { file });
  await app.open('procedures');
  await page.getByRole('link', { name: 'Export an invoice' }).click();
  await expect(page.getByRole('button', { name: 'Run…' })).toBeVisible();
  await app.press('e');
  const save = page.getByRole('button', { name: 'Save version 2' });
  await expect(save).toBeDisabled();
  await expect(page.getByText('No changes')).toBeVisible();

  // The third row: its text becomes a parameter; and the same again by undo.
  await app.press('j', 'j', 'p');
  await expect(page.locator('[data-row="2"]')).toContainText('parameter');
  await expect(page.locator('aside').getByText('year', { exact: true })).toBeVisible();
  await accessibleInBothThemes(page);
  await app.press('u');
  await expect(page.locator('[data-row="2"]')).not.toContainText('parameter');
  await app.press('p', 'k', 'k', 'o');
  await expect(page.locator('[data-row="0"]')).toContainText('optional');

  // Without its checkpoint a step cannot be saved, and the page says which.
  await app.press('Enter');
  await page.getByRole('button', { name: 'Remove this checkpoint' }).click();
  await expect(page.getByText('Step 1 has no checkpoint')).toBeVisible();
  await expect(save).toBeDisabled();
  await page.getByRole('button', { name: 'Add checkpoint' }).click();
  await choose(page.getByRole('button', { name: 'What is checked' }).or(page.getByRole('combobox', { name: 'What is checked' })), 'title');
  await page.getByRole('textbox', { name: 'Page title' }).fill('Sign in');
  await page.getByRole('textbox', { name: 'Title of the step' }).fill('Open billing');
  await app.press('Escape', 'j', 'j', 'Enter');
  await page.getByRole('button', { name: 'Do not allow searchbox “Customer”' }).click();
  await page.locator('[data-row="2"]').getByRole('checkbox', { name: 'may be empty' }).check();
  await expect(page.getByText('combobox “Kind”: “Paid”')).toBeVisible();
  const around = page.getByRole('textbox', { name: 'What the page may say around it' });
  await expect(around).toHaveValue('Invoices of {customer}\nA mail is sent.');
  await around.fill('Invoices of {customer}\n\nA mail is sent *');
  await accessibleInBothThemes(page);
  await page.getByRole('textbox', { name: 'What is new' }).fill('The year is asked for');

  // What was changed survives a reload.
  await expect(save).toBeEnabled();
  await page.reload();
  await expect(page.getByText('Your unsaved changes are back.')).toBeVisible();
  await expect(page.locator('[data-row="0"]')).toContainText('Open billing');
  await expect(save).toBeEnabled();
  await page.keyboard.press(`${mod}+Enter`);
  await expect(page.getByRole('heading', { name: 'Export an invoice' })).toBeVisible();
  const now = await shown();
  expect(now.version).toBe(2);
  expect(now.procedure.parameters.map(({ name }) => name)).toEqual(['customer', 'month', 'year']);
  expect(now.procedure.steps[0]).toMatchObject({ title: 'Open billing', optional: true, then: [{ is: 'title', text: 'Sign in' }] });
  expect(now.procedure.steps[2]).toMatchObject({ text: '{year}', form: [{ role: 'combobox', name: 'Kind', holds: 'Paid', optional: true }], says: ['Invoices of {customer}', 'A mail is sent *'] });
});

test('who edits an old version is shown that there is a newer one, and loses nothing', async ({ app, page, server }) => {
  await server.operator.call('POST', '/api/procedures', { file });
  await app.open('procedures/export_invoice');
  await page.getByRole('button', { name: 'Edit steps' }).click();
  const title = page.getByRole('textbox', { name: 'Title', exact: true });
  await title.fill('Mine');
  await title.blur();
  await expect(page.getByRole('button', { name: 'Save version 2' })).toBeEnabled();
  await server.operator.call('POST', '/api/procedures', { file: file.replace('Export an invoice', 'Theirs'), after: 1 });
  await page.keyboard.press(`${mod}+Enter`);
  await expect(page.getByRole('alert').filter({ hasText: 'There is a newer version since you began' })).toBeVisible();
  await expect(title).toHaveValue('Mine');
  app.errors.length = 0;
  await page.getByRole('button', { name: 'Discard my changes' }).click();
  await expect(title).toHaveValue('Theirs');
  await expect(page.getByText('No changes')).toBeVisible();
});

test('a run is asked for with values, and waits in the inbox with what it would do', async ({ app, page, server }) => {
  await server.operator.call('POST', '/api/procedures', { file });
  const bot = await server.agent('invoice-bot');
  await app.open('procedures/export_invoice');
  await expect(page.getByRole('button', { name: 'Run…' })).toBeEnabled();
  await app.press('r');
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('customer').fill('Halde & Co');
  await dialog.getByRole('button', { name: 'Run' }).click();
  await expect(dialog.locator('#' + (await dialog.getByLabel('month').getAttribute('id') ?? '') + '-note')).toContainText('Enter a value');
  await expect(dialog.getByLabel('month')).toBeFocused();
  await accessibleInBothThemes(page);
  await app.press('Escape');

  // An agent asks: nothing runs before an operator says so.
  const { operation_id: id } = await bot.call<{ operation_id: string }>('POST', '/api/procedures/export_invoice/runs', { parameters: { customer: 'Halde & Co', month: '2026-10' } });
  await app.openOperation(id);
  const page_ = page.locator('.op');
  for (const text of ['Halde & Co', '2026-10', 'billing.portal.example', 'reads', 'Search for Halde & Co', 'total']) await expect(page_.getByText(text).first()).toBeVisible();
  await expect(page.getByText('also sent by the agent')).toHaveCount(0);
  await expect(page.getByRole('button', { name: /^Run/ })).toBeEnabled();
  await accessibleInBothThemes(page);
  await resize(page, 400, 760);
  await fits(page, '.decide button');
  await resize(page, 1280, 800);
  await app.press('d');
  await app.reason.fill('Not now');
  await page.getByRole('dialog').getByRole('button', { name: /Decline|Send/ }).click();
  expect((await bot.until(id, (op) => op.state === 'declined')).ended?.reason).toBe('Not now');
});

test('a card says what would be run, and starts it where the risk is low', async ({ page, server }) => {
  await server.operator.call('POST', '/api/procedures', { file });
  const bot = await server.agent('invoice-bot');
  const { operation_id: id } = await bot.call<{ operation_id: string }>('POST', '/api/procedures/export_invoice/runs', { parameters: { customer: 'Halde & Co', month: '2026-10' } });
  await resize(page, 448, 900);
  const { code } = await server.invite();
  await page.goto(`${server.url}/?view=popup#code=${code}`);
  const card = page.getByRole('article', { name: 'Export an invoice' });
  for (const text of ['customer: Halde & Co', 'month: 2026-10', 'reads, billing.portal.example', 'Low risk']) await expect(card).toContainText(text);
  await accessibleInBothThemes(page);
  const started = page.waitForRequest((request) => request.method() === 'POST' && request.url().endsWith(`/api/operations/${id}/procedure`));
  await card.getByRole('button', { name: /^Run/ }).click();
  await started;
});

test('a run that stopped rings: a notification says where and why, and its card opens it', async ({ page, server }) => {
  await server.operator.call('PUT', '/api/settings', { 'notifications.after': 1 });
  await server.operator.call('POST', '/api/procedures', { file });
  const bot = await server.agent('invoice-bot');
  const { operation_id: id } = await bot.call<{ operation_id: string }>('POST', '/api/procedures/export_invoice/runs', { parameters: { customer: 'Halde & Co', month: '2026-10' } });
  // Without a screen the browser may not open; the run is under way all the same until Deskbell is killed.
  await server.operator.call('POST', `/api/operations/${id}/procedure`).catch(() => undefined);
  await server.stop('SIGKILL');
  await server.again();
  await inWindow(server, page);
  const card = page.getByRole('article', { name: 'Export an invoice' });
  for (const text of ['Stopped at step 1: Open the portal', 'Expected: ', 'Deskbell ended while it ran']) await expect(card).toContainText(text);
  await accessibleInBothThemes(page);
  const notice = { id: `stop:${id}`, title: 'Export an invoice: stopped at step 1', again: true, body: expect.stringContaining('Deskbell ended while it ran') as unknown };
  await expect.poll(() => calls(page, 'Notify')).toEqual([['Notify', expect.objectContaining(notice)]]);

  // Who clicks the notification is at the run, and its card does not come back.
  await emit(page, 'mode', 'console', 1);
  await emit(page, 'open', `stop:${id}`);
  await resize(page, 1280, 800);
  await expect(page.locator('.op')).toContainText('Deskbell ended while it ran');
  await page.getByRole('button', { name: 'Inbox', exact: true }).click();
  await expect(page.locator(`[data-id="${id}"]`)).toContainText('Stopped at step 1');
  await accessibleInBothThemes(page);
  await server.operator.call('POST', `/api/operations/${id}/procedure/orders`, { do: 'end' });
  await expect.poll(() => calls(page, 'Dismiss')).toEqual([['Dismiss', `stop:${id}`]]);
  expect(await calls(page, 'Notify')).toHaveLength(1);
  await expect(page.locator(`[data-id="${id}"]`)).not.toContainText('Stopped');
});

test('work done by hand again is proposed: it is taught from its recordings, or not proposed any more', async ({ app, page }) => {
  // The server's part is tested with real recordings; here it has three at once.
  const work = {
    title: 'Get the invoice of Nordwind', site: 'https://billing.portal.example', agents: ['invoice-bot', 'clerk'], times: 4, took_ms: 14 * 60_000,
    first: new Date(Date.now() - 40 * 86_400_000).toISOString(), last: new Date().toISOString(), operation_id: 'op_last', recordings: ['rec_a', 'rec_b', 'rec_c'],
  };
  let dismissed = '';
  await page.route('**/api/procedure-proposals**', (route) => {
    if (route.request().method() !== 'DELETE') return route.fulfill({ json: { proposals: dismissed ? [] : [work] } });
    dismissed = route.request().url();
    return route.fulfill({ status: 204 });
  });
  await app.open('procedures');
  const proposed = page.getByRole('region', { name: 'Done by hand again and again' });
  await expect(proposed.getByRole('listitem')).toHaveCount(1);
  await expect(proposed).toContainText('Get the invoice of Nordwind');
  await expect(proposed).toContainText('4 times since');
  await expect(proposed).toContainText('billing.portal.example');
  await accessibleInBothThemes(page);
  await resize(page, 400, 760);
  await fits(page, 'section button');
  await resize(page, 1280, 800);

  await proposed.getByRole('button', { name: 'Teach…' }).press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('Choose one to three recordings');
  await dialog.getByRole('button', { name: 'Teach', exact: true }).press('Enter');
  await expect(page).toHaveURL(/#\/procedures\/~teach\/rec_a~rec_b~rec_c$/);
  await expect(page.getByText('there is no recording rec_a').first()).toBeVisible();
  await app.open('procedures');
  await proposed.getByRole('button', { name: 'Do not propose this' }).press('Enter');
  await expect(proposed).toBeHidden();
  expect(dismissed).toContain('/api/procedure-proposals/op_last');
  app.errors.length = 0; // the server has no such recordings
});

test('the window of a desktop step is named in its editor, where * stands for anything', async ({ app, page, server }) => {
  const calc = `deskbell_procedure: 1
name: save_note
title: Save a note
where: desktop
does: [reads]
steps:
  - id: s1
    do: click
    title: Save
    window: {program: Mousepad, title: Untitled 1}
    target: {role: button, name: Save}
    then: [{is: title, text: Saved}]
`;
  await server.operator.call('POST', '/api/procedures', { file: calc });
  await app.open('procedures/save_note');
  await page.getByRole('button', { name: 'Edit steps' }).click();
  await expect(page.locator('[data-row="0"]')).toBeVisible();
  await app.press('Enter');
  const title = page.getByRole('textbox', { name: 'Title of the window of Mousepad' });
  await expect(title).toHaveValue('Untitled 1');
  await title.fill('Untitled *');
  await title.blur();
  await expect(page.getByRole('button', { name: 'Save version 2' })).toBeEnabled();
  await page.keyboard.press(`${mod}+Enter`);
  await expect(page.getByRole('heading', { name: 'Save a note' })).toBeVisible();
  const now = await server.operator.call<{ version: number; procedure: { steps: { window: unknown }[] } }>('GET', '/api/procedures/save_note');
  expect(now.version).toBe(2);
  expect(now.procedure.steps[0]?.window).toEqual({ program: 'Mousepad', title: 'Untitled *' });
});

/** What an agent asks a person for, and the procedure does. */
const invoice = (description: string, url = 'https://billing.portal.example/') => ({ action_type: 'browser', description, timeout: 3600, details: { url, data_to_extract: ['total', 'iban'] } });

test('a request with a missing value is offered without ink, and nothing is filled in', async ({ app, page, server, bot }) => {
  await server.operator.call('POST', '/api/procedures', { file });
  const { operation_id: id } = await bot.ring(invoice('Export the invoice of Nordwind'));
  await app.open();
  await app.openOperation(id);
  const offer = page.getByRole('region', { name: /^Taught on \w+ \d+, no good run yet: run it with these parameters\?$/ });
  const run = offer.getByRole('button', { name: 'Run with these' });
  const send = page.locator('.decide').getByRole('button', { name: 'Send answer' });
  const month = offer.getByLabel('month');
  for (const text of ['Export an invoice', 'version 1', 'reads', '4 steps', 'total', 'iban: you fill that in after the run', 'same site: billing.portal.example', 'gives 1 of 2 fields', 'not in the request']) await expect(offer).toContainText(text);
  await expect(offer.getByLabel('customer')).toHaveValue('Nordwind');
  await expect(month).toHaveValue('');
  await expect(run).not.toHaveClass(/ink/);
  await expect(send).toHaveClass(/ink/);
  await accessibleInBothThemes(page);
  await resize(page, 400, 760);
  await fits(page, '.decide button');
  await resize(page, 1280, 800);
  await app.armed();
  await run.click();
  await expect(month).toBeFocused();
  await expect(offer).toContainText('Enter a value');
  await month.fill('2026-10');
  await expect(offer).toContainText('entered by you');
  await expect(run).toHaveClass(/ink/);
  await expect(send).not.toHaveClass(/ink/);
  // Who begins to answer does it by hand.
  await page.getByRole('textbox', { name: 'Your answer' }).fill('It was 12');
  await expect(run).not.toHaveClass(/ink/);
  await expect(send).toHaveClass(/ink/);

  // What sends is never the usual way, though nothing is missing.
  await server.operator.call('POST', '/api/procedures', { file: file.replace('does: [reads]', 'does: [sends]\npolicy: permissive'), after: 1 });
  const sends = await bot.ring(invoice('Export the invoice of Nordwind, 2026-10'));
  await app.openOperation(sends.operation_id);
  await expect(month).toHaveValue('2026-10');
  await expect(offer).toContainText('sends');
  await expect(run).toBeEnabled();
  await expect(run).not.toHaveClass(/ink/);
});

test('a card says that a procedure was taught for it', async ({ page, server, bot }) => {
  await server.operator.call('POST', '/api/procedures', { file });
  await bot.ring(invoice('Export the invoice of Nordwind, 2026-10'));
  await resize(page, 448, 900);
  const { code } = await server.invite();
  await page.goto(`${server.url}/?view=popup#code=${code}`);
  const card = page.getByRole('article', { name: 'Export the invoice of Nordwind, 2026-10' });
  await expect(card.getByRole('button', { name: 'Taught: Export an invoice, no good run yet' })).toBeVisible();
  await accessibleInBothThemes(page);
});

test('what is offered for a request runs in the browser, and answers it', async ({ page }) => {
  test.slow();
  const desktop = await Screen.start();
  const vendor = await Vendor.start();
  const server = await Server.start([], { ...desktop.env, HOME: desktop.dir, DESKBELL_RECORDING_BROWSER_PATH: await browserPath(desktop) });
  try {
    const quota = `deskbell_procedure: 1
name: read_quota
title: Read the quota of a month
where: browser
does: [reads]
parameters:
  - {name: month, type: month, examples: [2026-09]}
outputs:
  - {name: used, type: text}
steps:
  - id: s1
    do: navigate
    title: Open the quota of {month}
    url: ${vendor.url}/quota?month={month}
    then: [{is: element, target: {role: heading, name: Scale 2026}}]
  - id: s2
    do: pick
    title: Read what is used
    output: used
    target: {role: status, name: Used this month}
    then: [{is: text, text: Used this month}]
`;
    await server.operator.call('POST', '/api/procedures', { file: quota });
    const bot = await server.agent('invoice-bot');
    const ask = { action_type: 'browser', description: 'Read the quota of October 2026', timeout: 3600, details: { url: `${vendor.url}/quota`, data_to_extract: ['used'] } };
    const { operation_id: id } = await bot.ring(ask);
    const app = new Console(page, server);
    await app.open();
    await app.openOperation(id);
    const offer = page.getByRole('region', { name: /run it with these parameters\?$/ });
    await expect(offer.getByLabel('month')).toHaveValue('2026-10');
    await expect(offer.getByRole('button', { name: 'Run with these' })).toHaveClass(/ink/);
    await app.armed();
    await page.keyboard.press(`${mod}+Enter`);
    await expect(page.locator('.runbar')).toBeVisible({ timeout: 30_000 });
    const done = await bot.until(id, (op) => op.state === 'completed');
    expect((done as typeof done & { result: { fields: unknown; execution_result: string } }).result.fields).toEqual({ used: '8.4M' });
    // A page that was loaded again shows the run, too; and the next request is offered with it.
    await page.reload();
    await expect(page.locator('.runbar')).toContainText('Good');
    await expect(page.locator('.op')).toContainText('2 of 2 steps done');
    const next = await bot.ring(ask);
    await app.openOperation(next.operation_id);
    await expect(offer).toHaveAccessibleName(/, 1 good run: run it/);
    await expect(offer).toContainText(/2 steps, usually 0:\d\d/);

    // Where the page is another one, it stops; once it is ended there, the work is one's own, and it is not offered again.
    await server.operator.call('POST', '/api/procedures', { file: quota.replace('then: [{is: element, target: {role: heading, name: Scale 2026}}]', 'within: 1\n    then: [{is: title, text: Another page}]'), after: 1 });
    await page.reload();
    await app.armed();
    await offer.getByRole('button', { name: 'Run with these' }).click();
    await expect(page.locator('.runbar')).toContainText('Stopped at step 1', { timeout: 30_000 });
    await expect(page.getByRole('img', { name: 'The page at the stop' }).locator('image')).toHaveAttribute('href', /^blob:/, { timeout: 30_000 });
    await accessibleInBothThemes(page);
    await expect(page.getByRole('button', { name: 'Send answer' })).toHaveCount(0);
    await page.locator('.op').getByRole('button', { name: /^End run/ }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End run' }).click();
    await expect(page.locator('.runbar')).toContainText('Ended');
    await expect(page.getByRole('region', { name: 'Your answer' })).toBeVisible();
    await page.reload();
    await expect(page.locator('.runbar')).toContainText('Ended');
    await expect(offer).toHaveCount(0);
    expect(app.errors).toEqual([]);
  } finally {
    await server.end();
    await vendor.end();
    await desktop.end();
  }
});

test('an operator says which agents can call a procedure, and others neither see nor call it', async ({ app, page, server }) => {
  await server.operator.call('POST', '/api/procedures', { file });
  const bot = await server.agent('invoice-bot');
  const clerk = await server.agent('clerk');
  const sees = async (who: typeof bot): Promise<number> => (await who.call<{ tools: unknown[] }>('GET', '/api/procedure-tools')).tools.length;
  const asks = (who: typeof bot): Promise<unknown> => who.call('POST', '/api/procedures/export_invoice/runs', { parameters: { customer: 'Halde & Co', month: '2026-10' } });
  await app.open('procedures/export_invoice');
  const part = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Agents', exact: true }) });
  await expect(part).toContainText('All agents can call it.');
  expect(await sees(clerk)).toBe(1);

  // With the keyboard alone.
  const change = part.getByRole('button', { name: 'Change agents…' });
  await change.press('Enter');
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('radio', { name: 'All agents' })).toBeChecked();
  await dialog.getByRole('radio', { name: 'All agents' }).press('ArrowDown');
  const names = dialog.getByLabel('Agents, separated by commas');
  await names.fill('invoice-*, @mei');
  await accessibleInBothThemes(page);
  await page.keyboard.press(`${mod}+Enter`);
  await expect(dialog.getByRole('alert')).toContainText('is no agent\'s name; write names');
  app.errors.length = 0;
  await names.fill('invoice-*, other');
  await page.keyboard.press(`${mod}+Enter`);
  await expect(dialog).toBeHidden();
  await expect(part).toContainText('Only these can call it: invoice-*, other');
  await accessibleInBothThemes(page);
  expect([await sees(bot), await sees(clerk)]).toEqual([1, 0]);
  await asks(bot);
  await expect(asks(clerk)).rejects.toThrow('agent clerk cannot call procedure export_invoice; an operator can let it, under Agents');

  // No agent at all; it stays so after a reload, and on a narrow page it can be reached, too.
  await change.press('Enter');
  await expect(names).toHaveValue('invoice-*, other');
  await names.fill('');
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(part).toContainText('No agent can call it.');
  expect([await sees(bot), await sees(clerk)]).toEqual([0, 0]);
  await page.reload();
  await resize(page, 400, 760);
  await expect(part).toContainText('No agent can call it.');
  await change.scrollIntoViewIfNeeded();
  await change.click();
  await dialog.getByRole('radio', { name: 'All agents' }).check();
  await dialog.getByRole('button', { name: 'Save' }).click();
  await expect(part).toContainText('All agents can call it.');
  expect(await sees(clerk)).toBe(1);
});

/** A server with a desktop, a browser to open on it, and a vendor's pages to look at. */
async function withBrowser(page: Page, act: (its: { app: Console; server: Server; desktop: Screen; vendor: Vendor }) => Promise<void>): Promise<void> {
  const desktop = await Screen.start();
  const vendor = await Vendor.start();
  const server = await Server.start([], { ...desktop.env, HOME: desktop.dir, DESKBELL_RECORDING_BROWSER_PATH: await browserPath(desktop) });
  try {
    await act({ app: new Console(page, server), server, desktop, vendor });
  } finally {
    await server.end();
    await vendor.end();
    await desktop.end();
  }
}

test('two recordings are watched side by side, by keys alone or one row after the other', async ({ page }) => {
  test.slow();
  await withBrowser(page, async ({ app, server, desktop, vendor }) => {
    const bot = await server.agent('invoice-bot');
    const recordings: string[] = [];
    for (const note of ['Nordwind', 'Halde']) {
      const { operation_id: id } = await bot.ring({ action_type: 'browser', description: `Ask for the quota of ${note}`, timeout: 3600, details: { url: vendor.url } });
      await app.open();
      await app.openOperation(id);
      await app.button('Claim and record').click();
      await vendor.shows(desktop, '/');
      await vendor.click(desktop, 'quota');
      await vendor.shows(desktop, '/quota');
      await vendor.click(desktop, 'note');
      await desktop.type(note);
      if (recordings.length) await vendor.click(desktop, 'requests'); // a detour
      await vendor.click(desktop, 'ask');
      const recording = (await server.operator.call<{ recordings: { recording_id: string }[] }>('GET', '/api/recordings')).recordings.find(({ recording_id: one }) => !recordings.includes(one))?.recording_id ?? '';
      await desktop.until('the last click', async () => JSON.stringify(await server.operator.call('GET', `/api/recordings/${recording}/actions`)).includes('"Ask"'));
      await app.press(`${mod}+.`);
      await expect(page.getByText(/^Recorded \d\d:\d\d/)).toBeVisible();
      recordings.push(recording);
    }
    await app.go(`procedures/~teach/${recordings.join('~')}`);
    const rows = page.locator('[data-row]');
    await expect(rows.first()).toBeVisible();
    const all = await rows.count();
    const states = await rows.locator('.pick').evaluateAll((picks) => picks.map((pick) => pick.getAttribute('aria-label')));
    const detour = await rows.evaluateAll((found) => found.findIndex((row) => row.textContent?.includes('not in A')));
    expect(detour).toBeGreaterThan(0);

    // By its key, at the row that is selected; the keyboard is on Play.
    const dialog = page.getByRole('dialog', { name: 'Watch side by side' });
    const where = (n: number): Promise<void> => expect(dialog.getByText(`Row ${n} of ${all}`)).toBeVisible();
    await app.press('j', 'v');
    await where(2);
    await expect(dialog.getByRole('button', { name: 'Play' })).toBeFocused();
    await expect(dialog.locator('figure image')).toHaveCount(2);
    await accessibleInBothThemes(page);
    await app.press('ArrowLeft');
    await where(1);
    await expect(dialog.getByRole('button', { name: 'Back' })).toBeDisabled();
    await app.press('ArrowLeft');
    await where(1);
    await app.press('End', 'ArrowRight');
    await where(all);
    await expect(dialog.getByRole('button', { name: 'Next' })).toBeDisabled();
    await app.press('Home', 'ArrowRight', 'ArrowRight');
    await where(3);
    for (const text of ['Nordwind', 'Halde']) await expect(dialog.locator('figure').getByText(text, { exact: true })).toBeVisible();
    // What one recording has not is as large as the picture of the other.
    await app.press('Home', ...Array.from({ length: detour }, () => 'ArrowRight'));
    const [none, other] = await Promise.all([dialog.getByText('not in A').boundingBox(), dialog.locator('figure').nth(1).locator('.shot').boundingBox()]);
    expect(none?.height ?? 0).toBeGreaterThan((other?.height ?? 0) * .9);

    // Keys of the page below do nothing.
    await app.press('v', 'j', 'k', 'e', 's', 'o', 'l', 'u', 'Shift+?');
    await expect(page.getByRole('dialog')).toHaveCount(1);
    await where(detour + 1);
    expect(await rows.locator('.pick').evaluateAll((picks) => picks.map((pick) => pick.getAttribute('aria-label')))).toEqual(states);

    // It plays to its last row and ends there; Space pauses it.
    await app.press('Home', 'Space');
    await expect(dialog.getByRole('button', { name: 'Pause' })).toBeFocused();
    await where(2);
    await app.press('Space');
    await expect(dialog.getByRole('button', { name: 'Play' })).toBeFocused();
    await app.press('End', 'ArrowLeft', 'Space');
    await where(all);
    await expect(dialog.getByRole('button', { name: 'Play' })).toBeVisible();
    await app.press('Space');
    await where(1);
    await app.press('Escape');
    await expect(dialog).toBeHidden();
    await expect(rows.nth(1).locator('.pick')).toBeFocused();
    await app.press('j');
    await expect(rows.nth(2).locator('.pick')).toHaveAttribute('aria-pressed', 'true');

    // By its button; on a narrow page what is pressed stays in sight.
    const button = page.getByRole('button', { name: 'Watch side by side' });
    await button.press('Enter');
    await where(3);
    for (const [width, height] of [[760, 600], [400, 600]] as const) {
      await resize(page, width, height);
      await fits(page, 'dialog .hands button');
    }
    await app.press('Escape');
    await expect(button).toBeFocused();
    expect(app.errors).toEqual([]);
  });
});

const quotaOf = (url: string): string => `deskbell_procedure: 1
name: ask_quota
title: Ask for the quota of a month
where: browser
does: [sends]
policy: permissive
parameters:
  - {name: month, type: month, examples: [2026-09]}
steps:
  - id: s1
    do: navigate
    title: Open the quota of {month}
    url: ${url}/quota?month={month}
    then: [{is: element, target: {role: heading, name: Scale 2026}}]
  - id: s2
    do: change
    title: Type {month} as note
    text: "{month}"
    target: {role: textbox, name: Note}
    then: [{is: value, target: {role: textbox, name: Note}, text: "{month}"}]
  - id: s3
    do: click
    title: Ask
    writes: true
    target: {role: button, name: Ask}
    form: [{role: combobox, name: Kind, optional: true}]
    then: [{is: text, text: Asked}]
`;

test('where only the form differs, the step is done as it is', async ({ page }) => {
  test.slow();
  await withBrowser(page, async ({ app, server, vendor }) => {
    await server.operator.call('POST', '/api/procedures', { file: quotaOf(vendor.url) });
    const bot = await server.agent('invoice-bot');
    const { operation_id: id } = await bot.call<{ operation_id: string }>('POST', '/api/procedures/ask_quota/runs', { parameters: { month: '2026-10' } });
    await app.open();
    await app.openOperation(id);
    await server.operator.call('POST', `/api/operations/${id}/procedure`);
    const bar = page.locator('.runbar');
    await expect(bar).toContainText('Stopped at step 3', { timeout: 30_000 });
    await expect(page.locator('.op')).toContainText('There is also textbox "Note".');
    // The field was typed in just now: what stands there is black in the picture, and the picture does not wait for it.
    await expect(page.getByRole('img', { name: 'The page at the stop' }).locator('image')).toHaveAttribute('href', /^blob:/);
    await accessibleInBothThemes(page);
    for (const width of [760, 400]) {
      await resize(page, width, 900);
      await fits(page, '.acts button');
    }
    await resize(page, 1280, 800);
    // That a person has the page is said once.
    await app.press('t');
    await expect(bar).toContainText(/You have the page.*2 of 3 steps done/);
    await expect(bar.getByText(/you have the page/i)).toHaveCount(1);
    await expect(bar.getByRole('button', { name: 'I did this step' })).toBeEnabled();
    await bar.getByRole('button', { name: /^Continue/ }).click();
    await expect(bar).toContainText('Stopped at step 3', { timeout: 30_000 });
    await page.getByRole('button', { name: 'Do it as it is' }).press('Enter');
    await bot.until(id, (op) => op.state === 'completed');
    await expect(bar).toContainText('Good');
    expect(app.errors).toEqual([]);
  });
});

test('after five good runs an operator lets agents run it unattended, and switches that off', async ({ page }) => {
  test.slow();
  await withBrowser(page, async ({ app, server, vendor }) => {
    const reads = quotaOf(vendor.url).replace('does: [sends]\npolicy: permissive', 'does: [reads]').replace(/ {2}- id: s3[^]*/, '');
    await server.operator.call('POST', '/api/procedures', { file: reads });
    const bot = await server.agent('invoice-bot');
    const run = async (month: string): Promise<string> => (await bot.call<{ operation_id: string }>('POST', '/api/procedures/ask_quota/runs', { parameters: { month } })).operation_id;
    await app.open('procedures/ask_quota');
    const part = page.locator('section').filter({ has: page.getByRole('heading', { name: 'Unattended', exact: true }) });
    await expect(part).toContainText('Not yet: 0 of 5 good runs were watched');
    for (let i = 0; i < 5; i++) {
      const id = await run('2026-10');
      await server.operator.call('POST', `/api/operations/${id}/procedure`);
      await bot.until(id, (op) => op.state === 'completed');
    }
    await page.reload();

    // With the keyboard alone.
    const give = part.getByRole('button', { name: 'Let it run unattended…' });
    await give.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Let agents run this without you?' });
    await expect(dialog.getByLabel('Agents, separated by commas')).toBeFocused();
    await expect(dialog.getByLabel('Agents, separated by commas')).toHaveValue('invoice-bot');
    await accessibleInBothThemes(page);
    await page.keyboard.press(`${mod}+Enter`);
    await expect(dialog.getByRole('alert')).toContainText('Write the values of month, or choose “any value”.');
    await expect(dialog.getByLabel('month')).toBeFocused();
    await dialog.getByLabel('month').fill('2026-10\n2026-11');
    await dialog.getByLabel('Runs a day').fill('3');
    await resize(page, 400, 760);
    await fits(page, 'dialog button');
    await resize(page, 1280, 800);
    await page.keyboard.press(`${mod}+Enter`);
    await expect(dialog).toBeHidden();
    await expect(part).toContainText('0 of 3 runs today');
    await expect(part).toContainText('Version 1 for invoice-bot.');
    await expect(part).toContainText('2026-10, 2026-11');
    await accessibleInBothThemes(page);

    // A call that fits begins by itself; another one waits, and so does each once it is switched off.
    const fitting = await run('2026-11');
    await bot.until(fitting, (op) => op.state === 'completed');
    expect((await server.operator.operation(await run('2026-12'))).state).toBe('pending');
    await page.reload();
    await expect(part).toContainText('1 of 3 runs today');
    await part.getByRole('button', { name: 'Switch off' }).press('Enter');
    await expect(part).toContainText('Off: ');
    expect((await server.operator.operation(await run('2026-11'))).state).toBe('pending');
    await give.press('Enter');
    await expect(dialog.getByLabel('month')).toHaveValue('2026-10\n2026-11');
    await app.press('Escape');
    await expect(give).toBeFocused();
    expect(app.errors).toEqual([]);
  });
});
