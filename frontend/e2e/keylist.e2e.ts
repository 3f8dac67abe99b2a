import { seedPlans, seedRun } from './support/plans';
import { Screen } from './support/screen';
import { record, seed } from './support/seeds';
import { Server } from './support/server';
import { Console, expect, test } from './support/test';

// Every view is only looked at, so two servers serve all of them: one with requests and a recording, one with plans.
let servers: Record<'requests' | 'plans', { server: Server; ids: Record<string, string> }>;
let screen: Screen;

test.beforeAll(async () => {
  test.setTimeout(180_000);
  screen = await Screen.start();
  const [requests, plans] = [await Server.start([], screen.env), await Server.start()];
  servers = { requests: { server: requests, ids: await seed(requests) }, plans: { server: plans, ids: await seedPlans(plans) } };
  const { ids } = servers.requests;
  ids.recorded = await record(requests, screen, true);
  const { recordings } = await requests.operator.call<{ recordings: { recording_id: string }[] }>('GET', '/api/recordings');
  ids.recording = recordings[0]?.recording_id ?? '';
  const agent = await requests.agent('claude-code');
  const call = { tool: 'Bash', args: { command: 'npm install left-pad' }, cwd: screen.dir, session_id: 's', client: 'claude-code' };
  ids.permission = (await agent.call<{ operation_id: string }>('POST', '/api/gate/evaluate', call)).operation_id;
  await seedRun(plans);
});
test.afterAll(async () => {
  for (const { server } of Object.values(servers)) await server.end();
  await screen.end();
});

const opened = '#operation-title';
const views: Record<keyof typeof servers, Record<string, string>> = {
  requests: {
    ...Object.fromEntries(['approve', 'feedback', 'bash', 'desktop', 'browser', 'review', 'permission', 'recorded', 'answered'].map((name) => [`inbox/{${name}}`, opened])),
    'recordings/{recording}': '[aria-current="step"]', 'findings/{recorded}': '.say', inbox: 'text=Inbox', history: 'text=History', recordings: 'text=Recordings', gatekeeper: 'text=Gatekeeper',
    welcome: 'text=Step 1 of',
  },
  plans: { ...Object.fromEntries(['plan', 'mild', 'runs', 'over', 'no'].map((name) => [`inbox/{${name}}`, opened])), 'agents/run_01kb2r9q': 'text=The tests fail', agents: 'text=Agents', settings: 'text=Settings' },
};

for (const [on, places] of Object.entries(views) as [keyof typeof servers, Record<string, string>][]) {
  test(`the list of keys opens in every view of ${on}, and the mouse works after it`, async ({ page }) => {
    test.setTimeout(120_000);
    const { server, ids } = servers[on];
    const app = new Console(page, server);
    await app.open();
    for (const [place, shown] of Object.entries(places)) {
      await test.step(place, async () => {
        await app.go(place.replace(/\{(\w+)\}/, (_, name: string) => ids[name] ?? name));
        await expect(page.locator('main, .whole').locator(shown).first()).toBeVisible();
        await app.press('?');
        const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
        await expect(keys).toContainText('Command palette');
        const lines = await keys.locator('dl > div').allTextContents();
        expect(lines).toEqual([...new Set(lines)]);
        await app.press('Escape');
        await expect(keys).toBeHidden();
        await page.locator('a:visible, button:enabled:visible').first().click({ trial: true });
      });
    }
    expect(app.errors).toEqual([]);
  });
}

test('a dialog that cannot be drawn is named, and leaves the page and its keys alive', async ({ page }) => {
  const { server, ids } = servers.requests;
  const app = new Console(page, server);
  await app.open();
  await app.openOperation(ids.approve ?? '');
  await page.evaluate(() => {
    const real = HTMLDialogElement.prototype.showModal;
    HTMLDialogElement.prototype.showModal = function () {
      HTMLDialogElement.prototype.showModal = real;
      throw new Error('no room');
    };
  });
  await app.press('?');
  await expect(page.getByRole('alert')).toContainText('no room');
  await page.getByRole('link', { name: 'Agents' }).click();
  await expect(page.getByRole('heading', { name: 'Agents', exact: true })).toBeVisible();
  await app.press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await expect(page.getByRole('alert')).toHaveCount(0);
});
