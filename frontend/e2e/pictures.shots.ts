import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { seedPlans, seedRun } from './support/plans';
import { Screen } from './support/screen';
import { record, seed, visit } from './support/seeds';
import { Server } from './support/server';
import { choose, Console, expect, mod, test } from './support/test';
import { browserPath, Vendor } from './support/vendor';

// Every view in both themes and both languages. SCREENSHOTS names another folder, SCREENSHOTS_ONLY a part of a view's name.
// Those of the documents go there, too, but for where SCREENSHOTS is given and DESKBELL_PICTURES is not.
const folder = path.resolve(process.env.SCREENSHOTS ?? path.join(import.meta.dirname, '../screenshots'));
const documents = process.env.DESKBELL_PICTURES ?? (process.env.SCREENSHOTS ? '' : path.join(import.meta.dirname, '../../docs/images'));
const only = process.env.SCREENSHOTS_ONLY ?? '';
const themes = ['light', 'dark'] as const;
const languages = ['en', 'zh-CN'] as const;

interface View {
  name: string;
  /** What is done before the picture is taken, in a page that is signed in. */
  show: (desk: Console, ids: Record<string, string>, screen: Screen, vendor: Vendor) => Promise<void>;
  size?: { width: number; height: number };
  /** On a server where nothing ever rang; or on one whose agents hand in plans. */
  fresh?: boolean;
  plans?: boolean;
  /** A picture of the documents: light and English. */
  docs?: boolean;
}

const operation = (name: string) => async (desk: Console, ids: Record<string, string>) => desk.openOperation(ids[name] ?? '');
const ended = (name: string) => async (desk: Console, ids: Record<string, string>) => {
  await desk.go(`inbox/${ids[name]}`);
  await expect(desk.page.locator('#operation-title')).toBeVisible();
};
const settled = async (desk: Console): Promise<void> => {
  await expect(desk.page.getByRole('region').first()).toBeVisible();
  await desk.page.waitForLoadState('networkidle');
};
const step = (n: number) => async (desk: Console) => {
  for (let i = 1; i < n; i++) await desk.press('Enter');
  await desk.page.waitForLoadState('networkidle');
};

const look = async (desk: Console): Promise<void> => {
  await expect(desk.page.locator('.stage image')).toBeVisible();
  await desk.page.waitForLoadState('networkidle');
};
/** Opens the latest recording, at a step with a click. */
const open = async (desk: Console): Promise<void> => {
  const { recordings } = await desk.server.operator.call<{ recordings: { recording_id: string }[] }>('GET', '/api/recordings');
  await desk.go(`recordings/${recordings[0]?.recording_id}`);
  await expect(desk.page.locator('[aria-current="step"]')).toBeVisible();
  await desk.press('ArrowRight', 'ArrowRight');
  await look(desk);
};

/** Work in a browser with its fields picked, one of them corrected by hand. */
const visited = async (desk: Console, ids: Record<string, string>, screen: Screen, vendor: Vendor): Promise<void> => {
  ids.visit ??= await visit(desk.server, screen, vendor);
  await desk.openOperation(ids.visit);
  await expect(desk.page.locator('li img')).toHaveCount(4);
  await desk.page.getByRole('textbox', { name: 'used_this_month' }).fill('8,412,903');
  await desk.page.getByRole('textbox', { name: 'used_this_month' }).blur();
};

/** Opens the findings of work that was recorded, once they are drafted and their pictures are there. */
const sift = async (desk: Console, id: string): Promise<void> => {
  await desk.go(`findings/${id}`);
  await expect(desk.page.locator('.say').first()).toBeVisible();
  await desk.armed();
  await desk.page.waitForLoadState('networkidle');
};
/** Work in a browser that has been recorded to its end. */
const wentThrough = async (desk: Console, ids: Record<string, string>, screen: Screen, vendor: Vendor): Promise<string> => {
  ids.visit ??= await visit(desk.server, screen, vendor);
  const { current } = await desk.server.operator.call<{ current: { recording_id: string } | null }>('GET', '/api/recorder');
  if (current) await desk.server.operator.call('POST', `/api/recordings/${current.recording_id}/stop`, {});
  return ids.visit;
};
/** One finding is cut, one is being written. */
const putRight = async (desk: Console): Promise<void> => {
  if ((await desk.page.locator('.row.cut').count()) === 0) {
    await desk.page.locator('.say').nth(5).focus();
    await desk.press('x');
  }
  await desk.page.locator('.say').nth(2).click();
};

/** Takes over what Mei sent, and changes more of it. */
const changed = async (desk: Console, ids: Record<string, string>): Promise<void> => {
  await desk.openOperation(ids.plan ?? '');
  if (!ids.changed) {
    ids.changed = 'yes'; // the draft stays
    await desk.button(/^(Use this version|采用此版本)$/).dispatchEvent('click'); // what stands above it is not scrolled away
    await desk.page.locator('[data-task="restore"] button.tt').focus();
    await desk.press('Alt+ArrowUp');
  }
  await expect(desk.page.locator('.bar-of .chip').first()).toBeVisible();
  await desk.page.waitForLoadState('networkidle');
  // What the changes come to is known, and the draft is saved.
  await expect(desk.page.locator('.plan .risky .t3')).toHaveCount(0);
  await expect(desk.page.getByText(/^(Draft saved|草稿已保存)/)).toBeVisible();
};

function planViews(): View[] {
  const open = (name: string, more?: (desk: Console) => Promise<void>): View['show'] => async (desk, ids) => {
    await desk.go(`inbox/${ids[name]}`);
    await expect(desk.page.locator('#operation-title')).toBeVisible();
    await desk.page.waitForLoadState('networkidle');
    await more?.(desk);
  };
  const plansOnly = async (desk: Console): Promise<void> => {
    await desk.go('history');
    await settled(desk);
    await desk.button(/^(Plans|计划)$/).click();
    await expect(desk.page.locator('#answers-title')).toBeVisible();
  };
  const views: View[] = [
    { name: 'plan-inbox', show: async (desk) => desk.go('inbox') },
    { name: 'plan-mild', show: open('mild', (desk) => desk.armed()) },
    { name: 'plan', docs: true, show: changed },
    { name: 'plan-edit', show: async (desk, ids) => changed(desk, ids).then(() => desk.page.locator('[data-task="report"] button.tt').click()) },
    { name: 'plan-menu', show: async (desk, ids) => changed(desk, ids).then(async () => { await desk.page.locator('[data-task="dump"] button.tt').focus(); await desk.page.locator('[data-task="dump"] .menu button').click(); }) },
    { name: 'narrow-plan', size: { width: 640, height: 900 }, show: changed },
    { name: 'middle-plan', size: { width: 1000, height: 760 }, show: changed },
    { name: 'plan-popup', size: { width: 448, height: 800 }, show: async (desk) => desk.page.goto(`${desk.server.url}/?view=popup#code=${(await desk.server.invite()).code}`).then(() => desk.page.waitForLoadState('networkidle')) },
    { name: 'plan-run', docs: true, show: open('runs') },
    { name: 'plan-rest', show: open('runs', (desk) => desk.button(/^(Change remaining tasks|修改剩余任务)/).click()) },
    { name: 'narrow-plan-run', size: { width: 640, height: 900 }, show: open('runs') },
    { name: 'plan-over', show: open('over') },
    { name: 'plan-over-end', show: open('over', (desk) => desk.page.locator('#confirmed-title').evaluate((title) => title.scrollIntoView())) },
    { name: 'narrow-plan-over', size: { width: 640, height: 900 }, show: open('over', (desk) => desk.page.locator('#confirmed-title').evaluate((title) => title.scrollIntoView())) },
    { name: 'plan-late', show: open('late') },
    { name: 'plan-history', show: plansOnly },
    { name: 'plan-history-changed', show: async (desk) => plansOnly(desk).then(async () => { await choose(desk.page.getByRole('combobox').last(), 'modified'); await settled(desk); }) },
    { name: 'plan-presets', show: async (desk) => { await desk.go('settings'); await settled(desk); await desk.page.locator('#presets-title').evaluate((title) => title.scrollIntoView()); } },
    { name: 'agent-runs', show: async (desk) => desk.go('agents').then(() => settled(desk)) },
    { name: 'agent-run', docs: true, show: async (desk) => { await desk.go('agents/run_01kb2r9q'); await expect(desk.page.getByRole('log')).toContainText('sum.go'); } },
    { name: 'narrow-agent-run', size: { width: 640, height: 900 }, show: async (desk) => { await desk.go('agents/run_01kb2r9q'); await expect(desk.page.getByRole('log')).toContainText('sum.go'); } },
  ];
  return views.map((view) => ({ ...view, plans: true }));
}

const views: View[] = [
  { name: 'inbox', show: async (desk) => desk.go('inbox') },
  ...['approve', 'critical', 'low', 'feedback', 'desktop', 'browser', 'review', 'bash'].map((name) => ({ name, show: operation(name) })),
  ...['answered', 'declined', 'withdrawn'].map((name) => ({ name, show: ended(name) })),
  { name: 'popup', size: { width: 448, height: 800 }, show: async (desk) => desk.page.goto(`${desk.server.url}/?view=popup#code=${(await desk.server.invite()).code}`).then(() => desk.page.waitForLoadState('networkidle')) },
  { name: 'history', show: async (desk) => desk.go('history').then(() => settled(desk)) },
  {
    name: 'history-search',
    show: async (desk) => {
      await desk.go('history');
      await desk.page.getByRole('searchbox').fill('rollback');
      await expect(desk.page.locator('mark').first()).toBeVisible();
    },
  },
  { name: 'agents', show: async (desk) => desk.go('agents').then(() => settled(desk)) },
  {
    name: 'agents-key',
    show: async (desk) => {
      await desk.go('agents');
      const field = desk.page.getByPlaceholder('release-bot');
      await field.fill('deploy-bot');
      await field.press('Enter');
      await expect(desk.page.getByText(/^dbk_/).first()).toBeVisible();
    },
  },
  { name: 'settings', show: async (desk) => desk.go('settings').then(() => settled(desk)) },
  {
    name: 'settings-end',
    show: async (desk) => {
      await desk.go('settings');
      await settled(desk);
      await desk.page.getByRole('region').first().evaluate((element) => (element.scrollTop = element.scrollHeight));
    },
  },
  { name: 'palette', show: async (desk, ids) => desk.openOperation(ids.approve ?? '').then(() => desk.press(`${mod}+k`)) },
  { name: 'keys', show: async (desk, ids) => desk.openOperation(ids.approve ?? '').then(() => desk.press('?')) },
  { name: 'snooze', show: async (desk, ids) => desk.openOperation(ids.approve ?? '').then(() => desk.press('s')) },
  { name: 'reason', show: async (desk, ids) => desk.openOperation(ids.bash ?? '').then(() => desk.press('d')) },
  {
    name: 'batch',
    show: async (desk, ids) => {
      await desk.go('inbox');
      for (const name of ['low', 'critical', 'approve']) await desk.row(ids[name] ?? '').getByRole('checkbox').check({ force: true });
      await desk.armed();
    },
  },
  {
    name: 'signin',
    show: async (desk) => {
      await desk.page.evaluate(() => window.addEventListener('pagehide', () => window.sessionStorage.clear()));
      await desk.page.goto(`${desk.server.url}/#code=USED1-CODE2`);
      await desk.page.reload();
      await expect(desk.page.getByRole('textbox')).toBeVisible();
    },
  },
  { name: 'narrow-inbox', size: { width: 640, height: 800 }, show: async (desk) => desk.go('inbox') },
  { name: 'narrow-approve', size: { width: 640, height: 800 }, show: operation('approve') },
  { name: 'narrow-history', size: { width: 640, height: 800 }, show: async (desk) => desk.go('history').then(() => settled(desk)) },
  { name: 'narrow-settings', size: { width: 640, height: 800 }, show: async (desk) => desk.go('settings').then(() => settled(desk)) },
  { name: 'middle-approve', size: { width: 1000, height: 760 }, show: operation('approve') },
  { name: 'wide-approve', size: { width: 1920, height: 1080 }, show: operation('approve') },
  {
    name: 'recorded',
    show: async (desk, ids, screen) => {
      ids.recorded ??= await record(desk.server, screen, true);
      await desk.openOperation(ids.recorded);
      await expect(desk.page.locator('#findings-title + .go .lines')).toBeVisible();
      await desk.page.locator('#findings-title').evaluate((title) => title.scrollIntoView());
    },
  },
  { name: 'desktop-findings', show: async (desk, ids, screen) => sift(desk, (ids.recorded ??= await record(desk.server, screen, true))) },
  { name: 'recording', show: async (desk) => open(desk) },
  { name: 'recording-mask', show: async (desk) => open(desk).then(() => desk.button(/Mask an area|遮蔽区域/).click()) },
  { name: 'recordings', show: async (desk) => desk.go('recordings').then(() => settled(desk)) },
  { name: 'narrow-recording', size: { width: 640, height: 800 }, show: async (desk) => open(desk) },
  {
    name: 'browser-options',
    show: async (desk, ids) => {
      await desk.openOperation(ids.browser ?? '');
      await desk.button(/^(Options|选项)$/).click();
      await desk.page.getByRole('switch', { name: /^(Page replay|页面回放)/ }).check();
    },
  },
  { name: 'browser-records', show: async (desk, ids, screen, vendor) => visited(desk, ids, screen, vendor) },
  { name: 'narrow-browser-records', size: { width: 640, height: 800 }, show: async (desk, ids, screen, vendor) => visited(desk, ids, screen, vendor) },
  {
    name: 'browser-waits',
    show: async (desk, ids, screen, vendor) => {
      await visited(desk, ids, screen, vendor);
      await desk.press('p');
      await expect(desk.page.locator('.waiting')).toBeVisible();
    },
  },
  {
    name: 'browser-recorded',
    show: async (desk, ids, screen, vendor) => {
      await visited(desk, ids, screen, vendor);
      await desk.press(`${mod}+.`);
      await expect(desk.page.locator('#findings-title + .go .lines')).toBeVisible();
    },
  },
  { name: 'findings', show: async (desk, ids, screen, vendor) => sift(desk, await wentThrough(desk, ids, screen, vendor)).then(() => putRight(desk)) },
  { name: 'middle-findings', size: { width: 1000, height: 760 }, show: async (desk, ids, screen, vendor) => sift(desk, await wentThrough(desk, ids, screen, vendor)) },
  { name: 'narrow-findings', size: { width: 720, height: 800 }, show: async (desk, ids, screen, vendor) => sift(desk, await wentThrough(desk, ids, screen, vendor)) },
  {
    name: 'narrow-findings-leaving', size: { width: 720, height: 800 },
    show: async (desk, ids, screen, vendor) => {
      await sift(desk, await wentThrough(desk, ids, screen, vendor));
      await desk.page.locator('#find-leaving').evaluate((title) => title.scrollIntoView());
    },
  },
  {
    name: 'findings-beside',
    show: async (desk, ids, screen, vendor) => {
      await sift(desk, await wentThrough(desk, ids, screen, vendor));
      await choose(desk.page.getByLabel(/^(Summarizer|摘要器)$/), 'joined');
      await expect(desk.page.locator('.beside li').first()).toBeVisible();
      await desk.page.waitForLoadState('networkidle');
    },
  },
  { name: 'browser-recording', show: async (desk) => open(desk) },
  {
    name: 'browser-film',
    show: async (desk) => {
      await open(desk);
      await desk.button(/^(Show page replay|查看页面回放)$/).click();
      await expect(desk.page.getByRole('slider')).toBeEnabled();
      await desk.page.getByRole('slider').focus();
      await desk.press('End');
      await expect(desk.page.frameLocator('.replayer-wrapper iframe').locator('#said')).toHaveText('Asked');
    },
  },
  {
    name: 'browser-answered',
    show: async (desk, ids, screen, vendor) => {
      await sift(desk, await wentThrough(desk, ids, screen, vendor));
      await desk.press(`${mod}+Enter`);
      await expect(desk.page.locator('[aria-label^="Show evidence"] img, [aria-label$="的依据"] img').first()).toBeVisible();
      await desk.page.waitForLoadState('networkidle');
    },
  },
  ...planViews(),
  { name: 'recordings-empty', fresh: true, show: async (desk) => desk.go('recordings').then(() => settled(desk)) },
  // Last, because from here on something is recorded.
  {
    name: 'records',
    show: async (desk, ids, screen) => {
      ids.records ??= await record(desk.server, screen, false);
      await desk.openOperation(ids.records);
      await expect(desk.page.locator('figure image').nth(2)).toBeVisible();
      await desk.page.waitForLoadState('networkidle');
    },
  },
  {
    name: 'strip', size: { width: 320, height: 44 },
    show: async (desk, ids, screen) => {
      ids.records ??= await record(desk.server, screen, false);
      await desk.page.goto(`${desk.server.url}/?view=recorder#code=${(await desk.server.invite()).code}`);
      await expect(desk.page.getByRole('group')).toBeVisible();
    },
  },
  { name: 'welcome-1', fresh: true, show: step(1) },
  { name: 'welcome-2', fresh: true, show: step(2) },
  { name: 'welcome-3', fresh: true, show: step(3) },
  { name: 'welcome-4', fresh: true, show: step(4) },
  { name: 'empty', fresh: true, show: async (desk) => desk.go('inbox').then(() => desk.page.waitForLoadState('networkidle')) },
  { name: 'history-empty', fresh: true, show: async (desk) => desk.go('history').then(() => settled(desk)) },
  { name: 'agents-empty', fresh: true, show: async (desk) => desk.go('agents').then(() => settled(desk)) },
];

async function picture(page: Page, name: string): Promise<string> {
  // The pointer would leave a hover behind.
  await page.mouse.move(0, 0);
  const file = path.join(folder, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  return file;
}

/** Puts a picture into the documents, with as few colours as a drawn page needs. */
function publish(file: string): void {
  execFileSync('convert', [file, '-strip', '+dither', '-colors', '256', '-define', 'png:compression-level=9', `png8:${path.join(path.resolve(documents), path.basename(file))}`]);
}

for (const theme of themes) {
  for (const language of languages) {
    test(`pictures ${theme} ${language}`, async ({ browser }) => {
      await mkdir(folder, { recursive: true });
      const screen = await Screen.start();
      const vendor = await Vendor.start();
      const busy = await Server.start([], { ...screen.env, HOME: screen.dir, DESKBELL_RECORDING_BROWSER_PATH: await browserPath(screen) });
      const fresh = await Server.start();
      const planned = await Server.start();
      const run = await seedRun(planned);
      try {
        const ids = { ...(await seed(busy)), ...(await seedPlans(planned)) };
        for (const view of views.filter((v) => v.name.includes(only))) {
          const context = await browser.newContext({ colorScheme: theme, locale: language, viewport: view.size ?? { width: 1280, height: 800 } });
          const desk = new Console(await context.newPage(), view.fresh ? fresh : view.plans ? planned : busy);
          await desk.page.goto((await desk.server.invite()).console);
          await expect(desk.page.locator('nav, aside ol').first()).toBeVisible();
          await view.show(desk, ids, screen, vendor);
          const file = await picture(desk.page, `${view.name}-${theme}-${language}`);
          if (view.docs && theme === 'light' && language === 'en' && documents) publish(file);
          await context.close();
        }
      } finally {
        await run.die();
        await planned.end();
        await busy.end();
        await fresh.end();
        await vendor.end();
        await screen.end();
      }
    });
  }
}
