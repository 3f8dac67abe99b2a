import { readFile } from 'node:fs/promises';
import { Screen } from './support/screen';
import { Server, type Caller, type Operation } from './support/server';
import { accessible, accessibleInBothThemes, choose, Console, expect, fits, mod, resize, test as base } from './support/test';
import { browserPath, Vendor } from './support/vendor';

interface Source {
  recording_id: string;
  action_id: string;
  picked: string;
  corrected?: boolean;
  url?: string;
  selector?: string;
  picture?: string;
}
type Answered = { result?: { fields?: Record<string, string>; field_sources?: Record<string, Source>; attachments?: string[] } };

// A server with a desktop, a browser to open on it, and a vendor's pages to look at.
const test = base.extend<{ desktop: Screen; vendor: Vendor; op: Operation }>({
  desktop: async ({}, use) => {
    const desktop = await Screen.start();
    await use(desktop);
    await desktop.end();
  },
  vendor: async ({}, use) => {
    const vendor = await Vendor.start();
    await use(vendor);
    await vendor.end();
  },
  server: async ({ desktop }, use) => {
    const server = await Server.start([], { ...desktop.env, HOME: desktop.dir, DESKBELL_RECORDING_BROWSER_PATH: await browserPath(desktop) });
    await use(server);
    await server.end();
  },
  op: async ({ bot, vendor }, use) =>
    use(await bot.ring({
      action_type: 'browser', description: 'Read our quota and unit prices', timeout: 3600,
      details: { url: vendor.url, requires_human: 'The login asks for a passkey', data_to_extract: { plan_name: 'text', unit_prices: 'table', renewal_date: 'date' } },
    })),
});

const field = (app: Console, name: string) => app.page.getByRole('textbox', { name, exact: true });
const actions = async (by: Caller, id: string): Promise<{ type: string; words: string; caused_by?: string }[]> => (await by.call<{ actions: { type: string; words: string }[] }>('GET', `/api/recordings/${id}/actions`)).actions;
const recording = async (of: Caller): Promise<string> => (await of.call<{ recordings: { recording_id: string }[] }>('GET', '/api/recordings')).recordings[0]?.recording_id ?? '';

/** Opens the operation and begins to record it; the vendor's first page is shown. */
async function begin(app: Console, desktop: Screen, vendor: Vendor, op: Operation): Promise<void> {
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Claim and record').click();
  await expect(app.page.getByRole('region', { name: 'Recorder', exact: true })).toContainText('Recording', { timeout: 30_000 });
  await vendor.shows(desktop, '/');
}

test('fields are picked from pages, corrected by hand, and given to the agent with where they came from', async ({ app, server, desktop, vendor, bot, op }) => {
  test.slow();
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(app.page.getByText(`Opens ${new URL(vendor.url).host} in`)).toBeVisible();
  await app.button('Claim and record').click();
  await vendor.shows(desktop, '/');
  const live = app.page.getByRole('region', { name: 'Live actions' });
  await expect(live).toContainText('On page Billing, acme');
  await expect(app.page.getByText('page 1 of this session')).toBeVisible();

  await vendor.click(desktop, 'quota');
  await vendor.shows(desktop, '/quota');
  // On a busy machine the page is there before its title.
  await expect(live).toContainText(/On page (Quota, acme|127\.0\.0\.1:\d+\/quota)/);
  await expect(app.page.getByText('page 2 of this session')).toBeVisible();
  await expect(app.page.getByRole('region', { name: 'Pages' }).getByRole('listitem')).toHaveCount(2);

  // The key P picks the first empty field; the page waits, and says so here.
  await app.press('p');
  await expect(app.page.getByText('Click it on the page')).toBeVisible();
  await app.press('Escape');
  await expect(app.page.getByText('Click it on the page')).toHaveCount(0);
  await app.press('p');
  await expect(app.page.getByText('Click it on the page')).toBeVisible();
  await vendor.click(desktop, 'plan');
  await expect(field(app, 'plan_name')).toHaveValue('Scale 2026');
  await expect(app.page.getByText('heading “Scale 2026”')).toBeVisible();
  await expect(app.button('Show evidence for plan_name').locator('img')).toBeVisible();

  await choose(app.page.getByLabel('How unit_prices is picked'), 'table');
  await app.button('Pick a table: unit_prices').click();
  await expect(app.page.getByText('Click in the table on the page')).toBeVisible();
  await vendor.click(desktop, 'price');
  await expect(app.page.getByRole('region', { name: 'unit_prices' }).getByRole('columnheader')).toHaveText(['Item', 'Price']);

  await field(app, 'plan_name').fill('Scale');
  await expect(app.page.getByText('Corrected by you; picked')).toBeVisible();
  await app.page.getByRole('textbox', { name: 'Your answer' }).fill('The renewal date is not shown.');
  await app.page.getByRole('button', { name: 'Done', exact: true }).click();
  await vendor.click(desktop, 'csv');
  await expect(app.page.getByRole('region', { name: 'Downloads' })).toContainText('prices-2026.csv');

  await app.press(`${mod}+Enter`);
  await expect(app.page.getByRole('heading', { name: 'What the agent will get' })).toBeVisible();
  await app.button(/^Send to/).click();
  const id = await recording(server.operator);
  const answered = (await bot.until(op.operation_id, (o) => !!o.result)) as unknown as Answered;
  expect(answered.result?.attachments ?? []).toEqual([]);
  expect(answered.result?.fields).toMatchObject({ plan_name: 'Scale' });
  expect(JSON.parse(answered.result?.fields?.unit_prices ?? '')).toEqual([['Item', 'Price'], ['Requests', '0.00042'], ['Storage', '0.021']]);
  const { plan_name: plan, unit_prices: prices } = answered.result?.field_sources ?? {};
  expect(plan).toMatchObject({ recording_id: id, picked: 'Scale 2026', corrected: true, url: `${vendor.url}/quota` });
  expect(plan?.selector).toBeTruthy();
  expect(plan?.picture).toBeTruthy();
  expect(prices?.corrected).toBeUndefined();

  // What went out is shown with what it stands on.
  const fields = app.page.getByRole('region', { name: 'Fields to extract' });
  await expect(fields).toContainText('Corrected by you; picked Scale 2026');
  await app.button('Show evidence for plan_name').click();
  await expect(app.page.getByRole('dialog')).toContainText(`${vendor.url}/quota`);
  await accessible(app.page);
});

test('what was picked is there after the page was loaded anew, and a killed server leaves it to be recorded again', async ({ app, server, desktop, vendor, op }) => {
  test.slow();
  await begin(app, desktop, vendor, op);
  await vendor.click(desktop, 'quota');
  await vendor.shows(desktop, '/quota');
  await app.press('p');
  await expect(app.page.getByText('Click it on the page')).toBeVisible();
  await vendor.click(desktop, 'plan');
  await expect(field(app, 'plan_name')).toHaveValue('Scale 2026');
  await expect(app.page.getByText(/^Draft saved/).first()).toBeVisible();
  await server.stop('SIGKILL');
  await server.again();
  await app.page.goto('about:blank');
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(field(app, 'plan_name')).toHaveValue('Scale 2026');
  await expect(app.page.getByText('heading “Scale 2026”')).toBeVisible();
  await expect(app.page.getByRole('region', { name: 'Recorder', exact: true })).toContainText('interrupted');
  await expect(app.button('Record again')).toBeEnabled();
  // While no server answered, the page complained of that.
  app.errors.length = 0;
});

test('its recording tells pages and what came of each step, and is exported as what plays it again', async ({ app, server, desktop, vendor, op }) => {
  test.slow();
  await begin(app, desktop, vendor, op);
  const id = await recording(server.operator);
  // On a busy machine a page can be left before there is a picture of it to mark the click in.
  await vendor.click(desktop, 'billing');
  await desktop.until('a picture of the first page', async () => (await server.operator.call<{ counts: { pictures: number } }>('GET', `/api/recordings/${id}`)).counts.pictures > 0);
  await vendor.click(desktop, 'quota');
  await vendor.shows(desktop, '/quota');
  await desktop.until('the navigation', async () => (await actions(server.operator, id)).some((action) => action.type === 'navigate' && !!action.caused_by));
  await app.press(`${mod}+.`);
  await expect(app.page.getByText(/^Recorded \d\d:\d\d/)).toBeVisible();
  await app.go(`recordings/${id}`);
  await expect(app.page.locator('.place code').filter({ hasText: '/quota' }).first()).toBeVisible();
  await expect(app.page.locator('.step.effect').first()).toBeVisible();
  await app.page.locator('.step').filter({ hasText: 'Quota and prices' }).first().click();
  await expect(app.page.locator('.stage image')).toHaveAttribute('href', /^blob:/);
  await expect(app.page.locator('.stage circle.click')).toBeVisible();
  await expect(app.page.getByText('Found by')).toBeVisible();
  await accessibleInBothThemes(app.page);
  await app.button(/^Export$/).click();
  await expect(app.page.getByRole('menuitem', { name: 'Network requests (HAR)' })).toHaveCount(0);
  const [download] = await Promise.all([app.page.waitForEvent('download'), app.page.getByRole('menuitem', { name: /^Test \(Playwright\)/ }).click()]);
  expect(download.suggestedFilename()).toMatch(/\.spec\.ts$/);
  expect(await readFile(await download.path(), 'utf8')).toContain(vendor.url);
});

test('a replay of the pages plays in a frame where nothing of them runs', async ({ app, server, desktop, vendor, op }) => {
  test.slow();
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Options').click();
  await app.page.getByRole('switch', { name: /^Page replay/ }).check();
  await app.page.getByRole('switch', { name: /^Network requests/ }).check();
  await expect(app.page.getByText('Also recorded: network requests, page replay.')).toBeVisible();
  await accessible(app.page);
  await app.button('Claim and record').click();
  await vendor.shows(desktop, '/');
  await vendor.click(desktop, 'quota');
  await vendor.shows(desktop, '/quota');
  await vendor.click(desktop, 'ask');
  const id = await recording(server.operator);
  await desktop.until('the replay of it', async () => JSON.stringify(await server.operator.call('GET', `/api/recordings/${id}/events?limit=5000`)).includes('"Asked"'));
  await app.press(`${mod}+.`);
  await expect(app.page.getByText(/^Recorded \d\d:\d\d/)).toBeVisible();
  await app.go(`recordings/${id}`);
  await app.button(/^Export$/).click();
  await expect(app.page.getByRole('menuitem', { name: /^Network requests \(HAR\)/ })).toBeVisible();
  await expect(app.page.getByRole('menuitem', { name: /^Page replay \(rrweb\)/ })).toBeVisible();
  await app.press('Escape');
  await app.button('Show page replay').click();
  const frame = app.page.locator('.replayer-wrapper iframe');
  await expect(frame).toHaveAttribute('sandbox', 'allow-same-origin');
  const slider = app.page.getByRole('slider', { name: 'Time in the page replay' });
  await expect(slider).toBeEnabled();
  await slider.focus();
  await app.press('End');
  await expect(app.page.frameLocator('.replayer-wrapper iframe').locator('#said')).toHaveText('Asked');
  await accessible(app.page);
  // The page counted that its script ran, and that its picture was broken: once each, when it was recorded.
  expect(await frame.evaluate((element) => ({ ...(element as HTMLIFrameElement).contentDocument?.documentElement.dataset }))).toMatchObject({ runs: '1', errors: '1' });
  // What the replay asks of the network is refused by the console's policy, and only that is complained of.
  expect(app.errors.filter((error) => !/Content Security Policy|sandboxed/.test(error))).toEqual([]);
  app.errors.length = 0;
});

test('where there is no browser it says what to install', async ({ page: tab, desktop }) => {
  const server = await Server.start([], { ...desktop.env, HOME: desktop.dir, DESKBELL_RECORDING_BROWSER_PATH: '/nowhere/chromium' });
  try {
    const op = await (await server.agent('bot')).ring({ action_type: 'browser', description: 'Read the quota', details: { url: 'https://v.example/' } });
    const app = new Console(tab, server);
    await app.open();
    await app.openOperation(op.operation_id);
    await expect(app.page.getByText('No supported browser found.')).toBeVisible();
    await accessible(tab);
  } finally {
    await server.end();
  }
});

const widths = [1000, 720, 640];
test('the view: WCAG 2.2 AA in both themes, and room at every width', async ({ app, desktop, vendor, op }) => {
  test.slow();
  await begin(app, desktop, vendor, op);
  await vendor.click(desktop, 'quota');
  await vendor.shows(desktop, '/quota');
  await app.press('p');
  await expect(app.page.getByText('Click it on the page')).toBeVisible();
  await vendor.click(desktop, 'plan');
  await expect(field(app, 'plan_name')).toHaveValue('Scale 2026');
  await field(app, 'plan_name').fill('Scale');
  await app.press('Escape', 'p');
  await accessibleInBothThemes(app.page);
  for (const width of widths) {
    await resize(app.page, width);
    await fits(app.page);
  }
});
