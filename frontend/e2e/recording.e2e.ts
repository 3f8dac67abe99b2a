import { readFile, rm } from 'node:fs/promises';
import type { Page } from '@playwright/test';
import { Hub } from './support/hub';
import { Screen } from './support/screen';
import { Server, type Caller, type Operation } from './support/server';
import { calls, emit, inWindow } from './support/window';
import { accessible, accessibleInBothThemes, Console, expect, fits, mod, resize, test as base } from './support/test';

interface Recording {
  recording_id: string;
  state: string;
  elapsed_ns: number;
  counts: { clicks: number; keys: number; events: number; pictures: number };
  options: { folders?: string[] };
}
interface Actions {
  actions: { action_id: string; type: string; words: string; text?: string; before?: string; after?: string }[];
}
interface Edits {
  cuts: string[];
  masked_texts: string[];
  masks: { picture?: string; x: number; y: number; w: number; h: number }[];
  words?: Record<string, string>;
  share_text: boolean;
  share_pictures: boolean;
}

// A server that has a desktop to record, and a person at it.
const test = base.extend<{ desktop: Screen; op: Operation }>({
  desktop: async ({}, use) => {
    const desktop = await Screen.start();
    await use(desktop);
    await desktop.end();
  },
  server: async ({ desktop }, use) => {
    const server = await Server.start([], desktop.env);
    await use(server);
    await server.end();
  },
  op: async ({ bot, desktop }, use) =>
    use(
      await bot.ring({
        action_type: 'desktop', description: 'Write the contract', timeout: 3600,
        details: { path: `${desktop.dir}/K-0417.txt`, action_sequence: ['Open the terminal', 'Write K-0417.txt', 'Close the terminal'], expected_outcome: 'A file K-0417.txt' },
      }),
    ),
});

const recordings = async (of: Caller): Promise<Recording[]> => (await of.call<{ recordings: Recording[] }>('GET', '/api/recordings')).recordings;
const actions = (by: Caller, id: string): Promise<Actions> => by.call('GET', `/api/recordings/${id}/actions`);
const edits = (by: Caller, id: string): Promise<Edits> => by.call('GET', `/api/recordings/${id}/edits`);

/** Records some work without the page, and returns the recording. */
async function recorded(server: Server, desktop: Screen, op: Operation, stop = true): Promise<Recording> {
  const me = server.operator;
  await me.call('POST', '/api/human/claim', { operation_id: op.operation_id });
  const { recording_id: id } = await me.call<Recording>('POST', '/api/recordings', { operation_id: op.operation_id, options: { folders: [desktop.dir], clipboard: 'off' } });
  await desktop.terminal('Contract');
  await desktop.type('echo signed > ' + desktop.dir + '/K-0417.txt');
  await desktop.do('key', 'Return');
  await desktop.until('the actions', async () => (await actions(me, id)).actions.some((action) => action.type === 'file'));
  return stop ? me.call('POST', `/api/recordings/${id}/stop`, {}) : me.call('GET', `/api/recordings/${id}`);
}

/** The page of a recording, with its first step shown. */
async function page(app: Console, id: string): Promise<void> {
  await app.open(`recordings/${id}`);
  await expect(app.page.locator('[aria-current="step"]')).toBeVisible();
}

test('an operation is claimed, recorded, ticked, looked through and given to its agent', async ({ app, server, desktop, bot, op }) => {
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Options').click();
  await expect(app.page.getByLabel('Folders where')).toHaveAttribute('placeholder', desktop.dir);
  await app.button(/^Add$/).click();
  await app.button('Claim and record').click();
  const bar = app.page.getByRole('region', { name: 'Recorder', exact: true });
  await expect(bar).toContainText('Recording');
  expect((await bot.operation(op.operation_id)).claimed_by).toBe('mei');
  expect((await recordings(server.operator))[0]?.options.folders).toEqual([desktop.dir]);

  await desktop.terminal('Contract');
  await desktop.type(`echo signed > ${desktop.dir}/K-0417.txt`);
  await desktop.do('key', 'Return');
  // Seen while it records: in the timeline, as pictures, and as the outcome that was expected.
  await expect(app.page.getByRole('region', { name: 'Recorded actions' })).toContainText('Created K-0417.txt');
  await expect(app.page.getByText(/^Seen at \d\d:\d\d: Created K-0417.txt in \S+$/)).toBeVisible();
  await expect(app.page.locator('figure image').first()).toHaveAttribute('href', /^blob:/);
  await app.page.getByRole('checkbox', { name: 'Open the terminal' }).check();
  await expect(app.page.getByRole('listitem').filter({ hasText: 'Open the terminal' }).locator('time')).toHaveText(/^\d\d:\d\d$/);
  await expect(app.page.getByRole('navigation').getByRole('link', { name: /^Recording, \d\d:\d\d/ })).toBeVisible();

  await app.press(`${mod}+Enter`);
  await expect(app.page.getByRole('heading', { name: 'What the agent will get' })).toBeVisible();
  const [recording] = await recordings(server.operator);
  const id = recording?.recording_id ?? '';
  expect(recording?.state).toBe('stopped');
  expect(recording?.counts.clicks).toBeGreaterThan(0);

  // The agent gets nothing before it is given, and then what was not hidden.
  await expect(actions(bot, id)).rejects.toThrow('404');
  await app.button('Play recording').click();
  await expect(app.page.getByText('no typed text, only that you typed and how much')).toBeVisible();
  await app.button(/^Pressed Enter/).click();
  await app.button('Remove').click();
  await expect.poll(async () => (await edits(server.operator, id)).cuts).toHaveLength(1);
  await app.button('Back to findings').click();
  await app.page.getByRole('switch', { name: /^Complete recording/ }).check();
  await app.page.getByRole('button', { name: 'Done', exact: true }).click();
  await app.button(/^Send to/).click();
  const answered = await bot.until(op.operation_id, (o) => !!o.result);
  expect(answered.result?.attachments).toEqual([id]);
  expect(answered.result?.steps).toMatchObject([{ step: 1, verdict: 'done' }]);
  const given = await actions(bot, id);
  expect(given.actions.map((action) => action.type)).toContain('type');
  expect(given.actions.map((action) => action.words)).not.toContain('Pressed Enter');
  expect(JSON.stringify(given)).not.toContain('signed');
  await expect(app.page.getByRole('link', { name: 'Sent with the answer' })).toBeVisible();
});

test('a recording does not go to the agent unless its switch says so', async ({ app, server, desktop, bot, op }) => {
  const { recording_id: id } = await recorded(server, desktop, op);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Review findings').click();
  await expect(app.page.getByRole('switch', { name: /^Complete recording/ })).not.toBeChecked();
  await app.page.getByRole('textbox', { name: 'Your answer' }).fill('Done by hand');
  await app.page.getByRole('button', { name: 'Done', exact: true }).click();
  await app.button(/^Send to/).click();
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.attachments ?? []).toEqual([]);
  await expect(actions(bot, id)).rejects.toThrow('404');
});

test('keys pause, go on, mark and stop, wherever one is', async ({ app, server, desktop, op }) => {
  await recorded(server, desktop, op, false);
  await app.open('agents');
  const sign = app.page.getByRole('navigation').getByRole('link', { name: /^Recording[, ]/ });
  await expect(sign).toBeVisible();
  // The next key counts once the server has answered the one before.
  const answered = (call: string): Promise<unknown> => app.page.waitForResponse((response) => response.url().endsWith(call)).then((response) => response.finished());
  await Promise.all([answered('/pause'), app.press('p')]);
  await expect(sign).toHaveAccessibleName(/^Recording paused/);
  expect((await server.operator.call<{ current: Recording }>('GET', '/api/recorder')).current.state).toBe('paused');
  await Promise.all([answered('/resume'), app.press('p')]);
  await expect(sign).toHaveAccessibleName(/^Recording, /);
  await app.press('m');
  await sign.focus();
  await app.press('Enter');
  await expect(app.page.getByRole('region', { name: 'Recorded actions' })).toContainText('Note: Marked');
  await app.press(`${mod}+.`);
  await expect(sign).toHaveCount(0);
  await expect(app.page.getByText(/^Recorded \d\d:\d\d/)).toBeVisible();
});

test('a recording is discarded only after a question, and then nothing is left of it', async ({ app, server, desktop, op }) => {
  await recorded(server, desktop, op, false);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press(`${mod}+Shift+Backspace`);
  await expect(app.button('Keep recording')).toBeFocused();
  await app.press('Enter');
  expect(await recordings(server.operator)).toHaveLength(1);
  await app.button('Discard the recording…').click();
  await app.button(/^Discard$/).click();
  await expect(app.page.getByText('Not recorded yet')).toBeVisible();
  expect(await recordings(server.operator)).toHaveLength(0);
});

test('steps are cut, put back, reworded and masked by keys alone', async ({ app, server, desktop, op }) => {
  const { recording_id: id } = await recorded(server, desktop, op);
  const me = server.operator;
  await page(app, id);
  const all = (await actions(me, id)).actions;
  const second = all[1];
  await app.press('ArrowRight', 'x');
  await expect.poll(async () => (await edits(me, id)).cuts).toEqual([second?.action_id]);
  await app.press('u');
  await expect.poll(async () => (await edits(me, id)).cuts).toEqual([]);
  await app.press('h');
  await expect.poll(async () => (await edits(me, id)).masked_texts).toEqual([second?.action_id]);

  await app.button('Mask an area').focus();
  await app.press('Enter');
  await expect(app.page.getByRole('application')).toBeFocused();
  const before = await app.page.locator('.region').boundingBox();
  await app.press('ArrowRight', 'Shift+ArrowDown');
  const after = await app.page.locator('.region').boundingBox();
  expect(after?.x).toBeGreaterThan(before?.x ?? 0);
  expect(after?.height).toBeGreaterThan(before?.height ?? 0);
  await app.press('Enter');
  await expect.poll(async () => (await edits(me, id)).masks).toHaveLength(1);
  await expect(app.page.locator('.stage .mask')).toHaveCount(1);

  await app.page.getByLabel(/^Description of step 2 of/).fill('Wrote it');
  await app.press('Enter');
  await expect.poll(async () => Object.values((await edits(me, id)).words ?? {})).toEqual(['Wrote it']);
});

test('a region is drawn with the pointer, on this picture only', async ({ app, server, desktop, op }) => {
  const { recording_id: id } = await recorded(server, desktop, op);
  await page(app, id);
  await app.button('Mask an area').click();
  await app.page.getByLabel('On every screenshot').uncheck();
  const box = await app.page.locator('.stage .shot').boundingBox();
  if (!box) throw new Error('no picture');
  await app.page.mouse.move(box.x + box.width / 4, box.y + box.height / 4);
  await app.page.mouse.down();
  await app.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2, { steps: 4 });
  await app.page.mouse.up();
  await app.button(/^Mask$/).click();
  await expect.poll(async () => (await edits(server.operator, id)).masks).toHaveLength(1);
  const [mask] = (await edits(server.operator, id)).masks;
  expect(mask?.picture).toBeTruthy();
  // The desktop is 1440 by 900.
  expect(Math.abs((mask?.x ?? 0) - 360)).toBeLessThan(8);
  expect(Math.abs((mask?.w ?? 0) - 360)).toBeLessThan(12);
  expect(Math.abs((mask?.h ?? 0) - 225)).toBeLessThan(12);
});

test('it plays, with the pointer where it was, and stops at a key', async ({ app, server, desktop, op }) => {
  const { recording_id: id } = await recorded(server, desktop, op);
  await page(app, id);
  await app.press('Space');
  await expect(app.page.locator('.pointer')).toBeVisible();
  await expect(app.page.locator('.stage image')).toHaveAttribute('href', /^blob:/);
  await app.press('Space');
  await expect(app.button(/^Play$/)).toBeVisible();
  const slider = app.page.getByRole('slider', { name: 'Recording time' });
  await slider.focus();
  await app.press('Home', 'ArrowRight');
  await expect(slider).toHaveAttribute('aria-valuetext', /^00:00 of /);
  await app.press('End');
  await expect(app.page.locator('.step').last()).toHaveAttribute('aria-current', 'step');
});

test('an export holds the words, and not what was hidden', async ({ app, server, desktop, op }) => {
  const { recording_id: id } = await recorded(server, desktop, op);
  await page(app, id);
  await app.button(/^Export$/).click();
  const [download] = await Promise.all([app.page.waitForEvent('download'), app.page.getByRole('menuitem', { name: 'Web page (HTML)' }).click()]);
  expect(download.suggestedFilename()).toMatch(/\.html$/);
  const html = await readFile(await download.path(), 'utf8');
  expect(html).toContain('Created K-0417.txt');
});

test('after a question it is done again on the desktop', async ({ app, server, desktop, op }) => {
  const { recording_id: id } = await recorded(server, desktop, op);
  await rm(`${desktop.dir}/K-0417.txt`);
  await page(app, id);
  await app.button('Replay…').click();
  await expect(app.button('Close').last()).toBeFocused();
  await app.button('Replay now').click();
  await expect(app.page.getByText(/^Done: \d+ actions? replayed/)).toBeVisible({ timeout: 30_000 });
  expect(await readFile(`${desktop.dir}/K-0417.txt`, 'utf8')).toBe('signed\n');
});

test('in the desktop the window makes room for the work: a strip that says it records, until it is stopped there', async ({ page: tab, server, desktop, bot, op }) => {
  await inWindow(server, tab);
  await emit(tab, 'mode', 'console');
  await emit(tab, 'open', op.operation_id);
  await expect(tab.getByRole('button', { name: 'Claim and record' })).toBeVisible();
  await tab.getByRole('button', { name: 'Claim and record' }).click();
  await expect.poll(() => calls(tab, 'Mode')).toContainEqual(['Mode', 'recorder', 44]);
  const strip = tab.getByRole('group', { name: 'Recorder' });
  await expect(strip).toContainText(/\d\d:\d\d/);
  await accessible(tab);

  // A ring is not missed, and the strip stays over its card.
  await desktop.terminal('Contract');
  const ring = await bot.ring({ description: 'Run the tests', details: { action: 'npm test', risk_level: 'low' } });
  await expect(tab.getByRole('article', { name: 'Run the tests' })).toBeVisible();
  await expect(strip).toBeVisible();
  await bot.cancel(ring.operation_id, 'x');
  await tab.getByRole('button', { name: 'Hide' }).click();
  await expect.poll(async () => (await calls(tab, 'Mode')).at(-1)).toEqual(['Mode', 'recorder', 44]);

  await strip.getByRole('button', { name: 'Pause' }).click();
  await expect(strip.getByRole('button', { name: 'Continue' })).toBeVisible();
  await strip.getByRole('button', { name: 'Stop' }).click();
  await expect.poll(async () => (await calls(tab, 'Mode')).at(-1)).toEqual(['Mode', 'console', 0]);
  await expect(tab.locator('#operation-title')).toHaveText('Write the contract');
  expect((await recordings(server.operator))[0]?.state).toBe('stopped');
});

test('recordings are listed, opened and deleted', async ({ app, server, desktop, op }) => {
  const { recording_id: id } = await recorded(server, desktop, op);
  await app.open('recordings');
  const row = app.page.getByRole('link', { name: /Write the contract/ });
  await row.click();
  await expect(app.page).toHaveURL(new RegExp(`#/recordings/${id}$`));
  await expect(app.page.getByRole('heading', { name: 'Completeness' })).toBeVisible();
  await app.press('Escape');
  await expect(row).toBeFocused();
  await app.button('Delete the recording of Write the contract').click();
  await expect(app.button('Cancel')).toBeFocused();
  await app.button(/^Delete$/).click();
  await expect(app.page.getByRole('heading', { name: 'No recordings yet' })).toBeVisible();
  expect(await recordings(server.operator)).toHaveLength(0);
  expect((await server.operator.operation(op.operation_id)).recordings).toEqual([]);
});

test('what is recorded elsewhere is said where one would record', async ({ app, server, desktop, bot, op }) => {
  await recorded(server, desktop, op, false);
  const other = await bot.ring({ action_type: 'desktop', description: 'Pair the phone', details: { action_sequence: ['Open Settings'] } });
  await app.open();
  await app.openOperation(other.operation_id);
  await expect(app.page.getByText('Another request is being recorded: Write the contract')).toBeVisible();
  await expect(app.button(/record/i)).toHaveCount(0);
  await app.page.getByRole('link', { name: 'Open', exact: true }).click();
  await expect(app.page.locator('#operation-title')).toHaveText('Write the contract');
});

test('without a screen it says what will be missing, before', async ({ page: tab }) => {
  const server = await Server.start([], { DISPLAY: '', WAYLAND_DISPLAY: '' });
  try {
    const op = await (await server.agent('bot')).ring({ action_type: 'desktop', description: 'Write the contract' });
    const app = new Console(tab, server);
    await app.open();
    await app.openOperation(op.operation_id);
    await expect(app.page.getByText(/^Not recorded here: Pointer and keys/)).toBeVisible();
    await app.button('Options').click();
    await expect(app.page.getByText('There is no screen to record.').first()).toBeVisible();
    await accessible(tab);
  } finally {
    await server.end();
  }
});

const widths = [1000, 720, 640];
async function held(tab: Page): Promise<void> {
  await accessibleInBothThemes(tab);
  for (const width of widths) {
    await resize(tab, width);
    await fits(tab);
  }
  await resize(tab, 1280, 800);
}

test('every view of recordings: WCAG 2.2 AA in both themes, and room at every width', async ({ app, server, desktop, op }) => {
  test.slow();
  const { recording_id: id } = await recorded(server, desktop, op, false);
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(app.page.locator('figure image').first()).toBeVisible();
  await held(app.page);
  await app.press(`${mod}+Enter`);
  await expect(app.page.locator('.say').first()).toBeVisible();
  await held(app.page);
  await app.go('recordings');
  await expect(app.page.getByRole('heading', { name: 'Recordings' })).toBeVisible();
  await held(app.page);
  await app.go(`recordings/${id}`);
  await expect(app.page.locator('.stage image')).toBeVisible();
  await held(app.page);
  await app.button('Mask an area').click();
  await held(app.page);
});

test('a recording on the desk of another member is asked for, and read once they approve', async ({ app, server, desktop }) => {
  test.setTimeout(120_000);
  const hub = await Hub.start('Blue');
  const there = await Server.start([], desktop.env);
  try {
    await hub.join(there, 'Tom', 'operator');
    await hub.join(server, 'Ann', 'operator');
    const op = await (await there.agent('office-bot')).ring({ action_type: 'desktop', description: 'Write the contract' });
    const { recording_id: id } = await recorded(there, desktop, op);
    await there.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, human_input: 'Written' });
    await expect.poll(async () => (await server.operator.call<{ operations: Operation[] }>('GET', '/api/human/operations?state=closed')).operations.length).toBe(1);

    await app.open(`history/${op.operation_id}`);
    const box = app.page.locator('section').filter({ hasText: "This recording is on Tom's desk" });
    await box.getByRole('textbox', { name: 'What for? (optional)' }).fill('I write the next one');
    await accessibleInBothThemes(app.page);
    await box.getByRole('button', { name: 'Ask for it' }).click();
    await expect(box).toContainText('There is no answer yet.');
    await box.getByRole('link', { name: 'Open the request' }).click();
    await expect(app.page.getByText('Only Tom can answer this.')).toBeVisible();
    await expect(app.button('Approve')).toBeHidden();

    const asked = (await there.operator.call<{ operations: Operation[] }>('GET', '/api/human/operations?state=open')).operations[0];
    expect(asked?.description).toBe('Ann asks for the complete recording of: Write the contract\n\nBecause: I write the next one');
    await there.operator.call('POST', '/api/human/complete', { operation_id: asked?.operation_id, decision: 'approve', digest: asked?.digest });
    await box.getByRole('link', { name: 'Open', exact: true }).click();
    await expect(app.page).toHaveURL(new RegExp(id));
    await expect(app.page.getByText("You're reading this recording from Tom's desk")).toBeVisible();
    await expect(app.page.locator('[aria-current="step"]')).toBeVisible();
    await expect(app.page.locator('svg > image').first()).toHaveAttribute('href', /^blob:/);
    await expect(app.button('Remove')).toBeHidden();
    await expect(app.button('Export')).toBeHidden();
    await accessibleInBothThemes(app.page);
  } finally {
    await there.end();
    await hub.end();
  }
});
