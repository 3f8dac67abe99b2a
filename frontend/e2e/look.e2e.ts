import { seed } from './support/seeds';
import { accessible, accessibleInBothThemes, Console, expect, fits, mod, resize, test } from './support/test';
import { Server } from './support/server';

// One server for all tests: they only look.
let server: Server;
let ids: Record<string, string>;
test.beforeAll(async () => {
  server = await Server.start();
  ids = await seed(server);
});
test.afterAll(() => server.end());

type Look = (app: Console) => Promise<void>;
const operation = (name: string): Look => (app) => app.openOperation(ids[name] ?? '');
const page = (place: string): Look => async (app) => {
  await app.go(place);
  await expect(app.page.getByText(/^(Loading…|Checking…|Looking for clients…)$/)).toHaveCount(0);
};
const dialog = (name: string, key: string): Look => async (app) => {
  await app.openOperation(ids[name] ?? '');
  await app.press(key);
  await expect(app.page.getByRole('dialog')).toBeVisible();
};
const looks: Record<string, Look> = {
  inbox: page('inbox'),
  ...Object.fromEntries(['approve', 'critical', 'low', 'feedback', 'desktop', 'browser', 'review', 'bash'].map((name) => [name, operation(name)])),
  ended: async (app) => {
    await app.go(`inbox/${ids.answered}`);
    await expect(app.page.getByText(/Answered by/).first()).toBeVisible();
  },
  several: async (app) => {
    await app.go('inbox');
    for (const name of ['low', 'critical']) await app.row(ids[name] ?? '').getByRole('checkbox').check({ force: true });
    await app.armed();
  },
  alerts: page('alerts'),
  history: page('history'),
  agents: page('agents'),
  keys: page('agents/keys'),
  settings: page('settings'),
  'first run': page('welcome'),
  palette: dialog('approve', `${mod}+k`),
  'key list': dialog('approve', '?'),
  snooze: dialog('approve', 's'),
  reason: dialog('bash', 'd'),
  popup: async (app) => {
    await app.page.goto(`${server.url}/?view=popup#code=${(await server.invite()).code}`);
    await expect(app.page.getByRole('article').first()).toBeVisible();
    await app.armed();
  },
};

// 390 are a phone's. 640 CSS pixels are also what a window of 1280 has at a zoom of 200 %; 720 is the narrowest window.
const widths = [1000, 720, 640, 390];

for (const [name, look] of Object.entries(looks)) {
  test(`${name}: WCAG 2.2 AA in both themes, and room at every width`, async ({ page: tab }) => {
    const app = new Console(tab, server);
    await app.open();
    await look(app);
    await accessibleInBothThemes(tab);
    for (const width of widths) {
      await resize(tab, width);
      await fits(tab, '.decide .btn, footer .btn, dialog .btn');
    }
  });
}

test('the sign-in page is accessible in both themes', async ({ page: tab }) => {
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    await tab.goto(server.url);
    await expect(tab.getByRole('textbox')).toBeVisible();
    await accessible(tab);
  }
});

test('nothing moves for somebody who asked for no motion', async ({ page: tab }) => {
  const app = new Console(tab, server);
  await app.open();
  await operation('approve')(app);
  const moving = await tab.evaluate(() => [...document.querySelectorAll('*')].filter((element) => {
    const style = getComputedStyle(element);
    return style.animationName !== 'none' || Math.max(...style.transitionDuration.split(',').map(parseFloat)) > 0;
  }).length);
  expect(moving).toBe(0);
});
