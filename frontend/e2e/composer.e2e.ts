import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { McpClient } from './support/mcp';
import { Screen } from './support/screen';
import { Server, type Operation } from './support/server';
import type { Locator } from '@playwright/test';
import { accessible, accessibleInBothThemes, Console, expect, fits, mod, resize, test, type Agent } from './support/test';

interface Result {
  status: string;
  operation_id: string;
  verdict?: string;
  human_input?: string;
  summary?: string;
  next?: string;
  fields?: Record<string, string>;
  findings?: { text: string; by_hand?: boolean }[];
  steps?: { step: number; verdict?: string; note?: string; at?: string; attachments?: string[] }[];
}

/** What an agent asks for over MCP. */
async function ask(bot: Agent, kind: string, details: Record<string, unknown>, description = 'Export the signed contract'): Promise<{ mcp: McpClient; id: string; result: () => Promise<Result> }> {
  const mcp = await McpClient.connect(bot);
  const { operation_id: id } = await mcp.human<Result>({ action: 'invoke', action_type: kind, description, details, wait_seconds: 0 });
  return { mcp, id, result: () => mcp.human<Result>({ action: 'check_result', operation_id: id }) };
}

const answer = (app: Console) => app.page.getByRole('textbox', { name: 'Your answer' });
const verdict = (app: Console, name: string) => app.page.getByRole('group', { name: 'Did it work?' }).getByRole('button', { name });
const saved = async (app: Console, id: string, is: (draft: Operation['draft']) => boolean): Promise<void> =>
  expect.poll(async () => is((await app.server.operator.operation(id)).draft)).toBe(true);

test('desktop work: steps, a verdict by one key and a text; the agent reads them over MCP', async ({ app, bot }) => {
  const { id, result } = await ask(bot, 'desktop', { app: 'Signer', action_sequence: ['Open Signer', 'Export as PDF/A', 'Check the audit page', 'Close Signer'] });
  await app.open();
  await app.openOperation(id);
  const send = app.button('Send answer');
  await expect(send).toBeDisabled();

  // Keys on a step: done, failed, skipped, and a note that they do not act on.
  const step = (name: string) => app.page.getByRole('checkbox', { name });
  await step('Open Signer').focus();
  await app.press('Space');
  await expect(step('Open Signer')).toBeChecked();
  await app.press('ArrowDown', 'x', 'n');
  const note = app.page.getByRole('textbox', { name: 'Note on step 2' });
  await expect(note).toBeFocused();
  await app.page.keyboard.type('x 1-3: the menu is gray');
  await app.press('Enter');
  await expect(step('Export as PDF/A')).toBeFocused();
  await app.press('ArrowDown', '-');
  await app.button('Step 4 failed').click();
  await app.button('Step 4 failed').click(); // and back again
  await expect(app.page.getByText('1 of 4 done, 1 failed, 1 skipped')).toBeVisible();
  await expect(verdict(app, 'Done')).toHaveAttribute('aria-pressed', 'false');

  // A verdict by one key, outside of text fields; what is partly done needs words.
  await app.page.locator('#operation-title').focus();
  await app.press('1');
  await expect(verdict(app, 'Done')).toHaveAttribute('aria-pressed', 'true');
  await expect(send).toBeEnabled();
  await app.press('2');
  await expect(verdict(app, 'Partly')).toHaveAttribute('aria-pressed', 'true');
  await app.press(`${mod}+Enter`);
  await expect(app.page.getByRole('alert')).toContainText('Write what isn\'t done');
  await expect(answer(app)).toBeFocused();
  expect((await bot.operation(id)).result).toBeUndefined();
  await app.page.keyboard.type('Menu **Export** is gray. 1, 2, 3');
  await expect(verdict(app, 'Partly')).toHaveAttribute('aria-pressed', 'true');
  await saved(app, id, (draft) => draft?.human_input === 'Menu **Export** is gray. 1, 2, 3' && draft.steps?.length === 3);

  // All of it outlives a reload.
  await app.page.reload();
  await app.armed();
  await expect(verdict(app, 'Partly')).toHaveAttribute('aria-pressed', 'true');
  await expect(answer(app)).toHaveValue('Menu **Export** is gray. 1, 2, 3');
  await expect(step('Open Signer')).toBeChecked();
  await expect(app.page.getByText('x 1-3: the menu is gray')).toBeVisible();
  await app.press(`${mod}+Enter`);
  await bot.until(id, (op) => !!op.result);
  const got = await result();
  expect(got).toMatchObject({ status: 'completed', verdict: 'partly', human_input: 'Menu **Export** is gray. 1, 2, 3' });
  expect(got.next).toContain('did a part');
  expect(got.steps?.every(({ at }) => at && !Number.isNaN(Date.parse(at)))).toBe(true);
  expect(got.steps?.map(({ at: _at, ...step }) => step)).toEqual([{ step: 1, verdict: 'done' }, { step: 2, verdict: 'failed', note: 'x 1-3: the menu is gray' }, { step: 3, verdict: 'skipped' }]);
  // What it came to stays to be read.
  await expect(app.page.getByText(/^Partly done by mei/)).toBeVisible();
  await expect(app.page.locator('dd strong').first()).toHaveText('Export');
  await expect(step('Open Signer')).toBeDisabled();
  await accessible(app.page);
});

test('the whole answer: Markdown with its preview, findings and summary kept, changed, removed; one draft on both pages', async ({ app, bot, server }) => {
  const { id, result } = await ask(bot, 'browser', { url: 'https://console.vendor.example/', data_to_extract: ['plan'] }, 'Read the plan');
  const evidence = [{ kind: 'request', id: 'description' }];
  await server.operator.call('POST', '/api/human/input', {
    operation_id: id, verdict: 'done', summary: 'Read it on the page Billing.', fields: { plan: 'Scale' },
    findings: ['The plan is Scale', 'It renews in May', 'Mail was open'].map((text) => ({ kind: 'note', text, evidence, by_hand: true })),
  });
  await app.open();
  await app.openOperation(id);
  await answer(app).fill('You are on');
  await app.page.getByRole('link', { name: 'Open the full answer' }).click();
  await app.armed();
  await expect(answer(app)).toHaveValue('You are on');

  // Buttons put marks around what is selected; what they make is seen beside, and undo takes it back.
  await answer(app).press('End');
  await app.page.keyboard.type(' Scale');
  for (let i = 0; i < 5; i++) await app.press('Shift+ArrowLeft');
  await app.button('Bold').click();
  await expect(answer(app)).toHaveValue('You are on **Scale**');
  await expect(app.page.getByRole('region', { name: 'Preview' }).locator('strong')).toHaveText('Scale');
  await answer(app).press('End');
  await app.page.keyboard.type('\n<img src=x onerror="document.title=1"> [x](javascript:alert(1))');
  await expect(app.page.getByRole('region', { name: 'Preview' }).locator('img, a')).toHaveCount(0);
  await app.page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'Preview' }).click();
  await expect(answer(app)).toHaveCount(0);
  await app.page.getByRole('group', { name: 'View' }).getByRole('button', { name: 'Write' }).click();
  await answer(app).fill('You are on **Scale**');

  // The summary and the findings, inline.
  await app.button('Edit summary').click();
  await app.page.getByRole('textbox', { name: 'Summary' }).fill('Read under Billing.');
  await app.press('Enter');
  await app.page.locator('.say').nth(2).focus();
  await app.press('x');
  await expect(app.page.getByText('Removed by you. Stays on this machine.')).toBeVisible();
  await app.page.locator('.say').first().focus();
  await app.press('Alt+ArrowDown');
  await expect(app.page.locator('.say')).toHaveText(['It renews in May', 'The plan is Scale']);
  const leaves = app.page.getByRole('group', { name: /^What the agent will get/ });
  await expect(leaves).toContainText('verdictdone');
  await expect(leaves).toContainText('Read under Billing.');
  await expect(leaves).not.toContainText('Mail was open');

  // Without a verdict nothing is sent.
  await app.page.locator('#operation-title').focus();
  await app.press('1');
  await expect(app.button(/^Send to/)).toBeDisabled();
  await app.press('1');
  await accessibleInBothThemes(app.page);
  for (const width of [1440, 900, 400]) {
    await resize(app.page, width);
    await fits(app.page);
    await expect(app.button(/^Send to/)).toBeInViewport({ ratio: 1 });
  }
  await resize(app.page, 1280, 800);
  await app.press(`${mod}+Enter`);
  await bot.until(id, (op) => !!op.result);
  expect(await result()).toMatchObject({
    status: 'completed', verdict: 'done', human_input: 'You are on **Scale**', summary: 'Read under Billing.', fields: { plan: 'Scale' },
    findings: [{ text: 'It renews in May', by_hand: true }, { text: 'The plan is Scale', by_hand: true }],
  });
});

test('an answer that could not be sent keeps its draft, and is sent again', async ({ app, bot }) => {
  const { id, result } = await ask(bot, 'bash', { command: 'keyctl rotate' }, 'Rotate the key');
  await app.open();
  await app.openOperation(id);
  await app.press('3');
  await answer(app).fill('The token is at home');
  await app.page.route('**/api/human/complete', (route) => route.abort());
  await app.button('Send answer').click();
  await expect(app.page.getByRole('alert')).toBeVisible();
  await expect(answer(app)).toHaveValue('The token is at home');
  await app.page.unroute('**/api/human/complete');
  await app.armed();
  await app.button('Send answer').click();
  await bot.until(id, (op) => !!op.result);
  const got = await result();
  expect(got).toMatchObject({ verdict: 'could_not', human_input: 'The token is at home' });
  expect(got.next).toContain('another way');
  app.errors.length = 0; // the aborted call logs one
});

test('the answer in Chinese, and in a narrow window, in both themes', async ({ app, bot }) => {
  const { id } = await ask(bot, 'desktop', { action_sequence: ['Open Signer', `Export ${'a-very-long-word-'.repeat(20)}`] });
  await app.page.addInitScript(() => localStorage.setItem('deskbell.language', 'zh-CN'));
  await app.open();
  await app.openOperation(id);
  await expect(app.page.getByRole('group', { name: '完成了吗？' })).toBeVisible();
  for (const place of [`inbox/${id}`, `findings/${id}`]) {
    await app.go(place);
    await expect(app.page.getByRole('group', { name: '完成了吗？' })).toBeVisible();
    for (const width of [1280, 760, 400]) {
      await resize(app.page, width);
      await fits(app.page);
      await expect(app.page.getByRole('button', { name: /未能完成/ })).toBeInViewport();
    }
    await accessibleInBothThemes(app.page);
    await resize(app.page, 1280, 800);
  }
});

/** A PNG of one color, made by the page. */
const picture = (app: Console, width: number, height: number): Promise<number[]> =>
  app.page.evaluate(async ([w, h]) => {
    const canvas = document.createElement('canvas');
    canvas.width = w;
    canvas.height = h;
    const c = canvas.getContext('2d');
    if (c) c.fillStyle = '#3a7';
    c?.fillRect(0, 0, w, h);
    const blob = await new Promise<Blob | null>((done) => canvas.toBlob(done, 'image/png'));
    return [...new Uint8Array((await blob?.arrayBuffer()) ?? new ArrayBuffer(0))];
  }, [width, height] as const);

test('files are picked, pasted and dropped; a picture is cropped and masked first; the draft keeps them', async ({ app, bot, server }) => {
  const { id } = await ask(bot, 'bash', { command: 'terraform plan' }, 'Unlock the state');
  await app.open();
  await app.openOperation(id);
  const files = app.page.getByRole('region', { name: 'Attachments' }).getByRole('listitem');
  // A text is attached as it is, checked; one with a secret in it is masked.
  await app.page.getByLabel('Attach a file').first().setInputFiles([
    { name: 'plan.txt', mimeType: 'text/plain', buffer: Buffer.from('No changes.\n') },
    { name: 'env.txt', mimeType: 'text/plain', buffer: Buffer.from('AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY\n') },
  ]);
  await expect(files.filter({ hasText: 'plan.txt' })).toContainText('no secrets found');
  await expect(files.filter({ hasText: 'env.txt' })).toContainText('secret masked');

  // A picture is looked at first: cropped by numbers, masked from the keyboard, and by dragging.
  const png = await picture(app, 200, 100);
  await app.page.evaluate((bytes) => {
    const data = new DataTransfer();
    data.items.add(new File([new Uint8Array(bytes)], 'shot.png', { type: 'image/png' }));
    window.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, cancelable: true }));
  }, png);
  const dialog = app.page.getByRole('dialog', { name: 'Mark the screenshot?' });
  await expect(dialog.getByRole('spinbutton', { name: 'Width' })).toHaveValue('200');
  await dialog.getByRole('spinbutton', { name: 'Width' }).fill('120');
  await dialog.getByRole('spinbutton', { name: 'Height' }).fill('60');
  await dialog.getByRole('group', { name: /^Picture/ }).press('ArrowRight');
  await expect(dialog.getByRole('spinbutton', { name: 'X' })).toHaveValue('10');
  await dialog.getByRole('button', { name: 'Mask', exact: true }).click();
  await dialog.getByRole('button', { name: 'Add in the middle' }).click();
  await expect(dialog.getByRole('spinbutton', { name: 'X' })).toHaveValue('50');
  await dialog.getByRole('button', { name: 'Arrow' }).click();
  await dialog.getByRole('group', { name: /^Picture/ }).hover({ position: { x: 20, y: 20 } });
  await app.page.mouse.down();
  await dialog.getByRole('group', { name: /^Picture/ }).hover({ position: { x: 60, y: 50 } });
  await app.page.mouse.up();
  await accessible(app.page);
  await dialog.getByRole('button', { name: 'Attach', exact: true }).click();
  await expect(files.filter({ hasText: 'shot.png' })).toContainText('120×60');

  // A file that was refused says why, and nothing is sent with it.
  await app.page.route('**/api/attachments?**', (route) => route.abort());
  await app.page.getByLabel('Attach a file').first().setInputFiles([{ name: 'lost.txt', mimeType: 'text/plain', buffer: Buffer.from('x') }]);
  await expect(files.filter({ hasText: 'lost.txt' })).toContainText('Not attached');
  await app.page.unroute('**/api/attachments?**');
  await app.page.getByRole('button', { name: 'Done', exact: true }).click();
  await app.button('Send answer').click();
  await expect(app.page.getByRole('alert').filter({ hasText: 'Try again or remove it' })).toBeVisible();
  await app.button('Remove lost.txt').click();
  await app.button('Remove env.txt').click();
  await expect(app.page.getByText(/^Draft saved \d\d/)).toBeVisible();
  await app.page.reload();
  await app.armed();
  await expect(files).toHaveCount(2);
  app.errors.length = 0; // the aborted call logs one

  // The same on the page of the whole answer, and what leaves names them.
  await app.page.getByRole('link', { name: 'Open the full answer' }).click();
  await app.armed();
  await expect(files).toHaveCount(2);
  await expect(app.page.getByRole('group', { name: /^What the agent will get/ })).toContainText('plan.txt');
  await accessibleInBothThemes(app.page);
  await app.press(`${mod}+Enter`);
  const { result } = await bot.until(id, (op) => !!op.result);
  expect(result?.attachments).toHaveLength(2);
  const got = await fetch(`${server.url}/api/attachments/${result?.attachments?.find((one) => one.startsWith('att_')) ?? ''}`, { headers: { Authorization: `Bearer ${bot.secret}` } });
  expect(got.ok).toBe(true);
});

/** A PNG with a text chunk after its header. */
function commented(png: Buffer, comment: string): Buffer {
  const body = Buffer.from(`tEXtComment\0${comment}`, 'latin1');
  const [size, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  size.writeUInt32BE(body.length - 4);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([png.subarray(0, 33), size, body, sum, png.subarray(33)]);
}

/** Drops a file of this machine on a place of the page, by the events of a real drag. */
async function drop(app: Console, file: string, on: Locator): Promise<void> {
  const box = await on.boundingBox();
  const cdp = await app.page.context().newCDPSession(app.page);
  const data = { items: [], files: [file], dragOperationsMask: 1 };
  for (const type of ['dragEnter', 'dragOver', 'drop'] as const) await cdp.send('Input.dispatchDragEvent', { type, x: (box?.x ?? 0) + 20, y: (box?.y ?? 0) + 20, data });
}

test('a file is dropped, and what is masked in it is nowhere in what the agent gets or the server keeps', async ({ app, bot, server }) => {
  const { id } = await ask(bot, 'bash', { command: 'terraform plan' }, 'Unlock the state');
  await app.open();
  await app.openOperation(id);
  const files = app.page.getByRole('region', { name: 'Attachments' }).getByRole('listitem');
  const [first, second] = [[201, 37, 144], [17, 233, 99]] as const;
  const area = { x: 40, y: 30, w: 80, h: 40 };
  const plain = await app.page.evaluate(([one, other, { x, y, w, h }]) => {
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [200, 100];
    const c = canvas.getContext('2d');
    if (!c) return '';
    c.fillStyle = '#3377aa';
    c.fillRect(0, 0, 200, 100);
    for (let i = 0; i < w; i++) {
      for (let j = 0; j < h; j++) {
        c.fillStyle = `rgb(${((i + j) % 2 ? one : other).join(',')})`;
        c.fillRect(x + i, y + j, 1, 1);
      }
    }
    return canvas.toDataURL('image/png').split(',')[1] ?? '';
  }, [first, second, area] as const);
  const folder = await mkdtemp(path.join(os.tmpdir(), 'deskbell-drop-'));
  try {
    const file = path.join(folder, 'desk.png');
    await writeFile(file, commented(Buffer.from(plain, 'base64'), 'the vault opens with 4182'));
    await drop(app, file, answer(app));
    const dialog = app.page.getByRole('dialog', { name: 'Mark the screenshot?' });
    await dialog.getByRole('button', { name: 'Mask', exact: true }).click();
    await dialog.getByRole('button', { name: 'Add in the middle' }).click();
    for (const [name, value] of [['Width', area.w], ['Height', area.h], ['X', area.x], ['Y', area.y]] as const) {
      await dialog.getByRole('spinbutton', { name, exact: true }).fill(`${value}`);
      await dialog.getByRole('spinbutton', { name, exact: true }).blur();
    }
    await dialog.getByRole('button', { name: 'Attach', exact: true }).click();
    await expect(files.filter({ hasText: 'desk.png' })).toContainText('200×100');
    await expect(app.page.getByText(/^Draft saved \d\d/)).toBeVisible();
  } finally {
    await rm(folder, { recursive: true });
  }
  await answer(app).fill('See the picture');
  await verdict(app, 'Done').click();
  await app.button('Send answer').click();
  const { result } = await bot.until(id, (op) => !!op.result);
  expect(result?.attachments).toHaveLength(1);
  const get = async (more: string): Promise<Buffer> => {
    const got = await fetch(`${server.url}/api/attachments/${result?.attachments?.[0]}${more}`, { headers: { Authorization: `Bearer ${bot.secret}` } });
    expect(got.ok).toBe(true);
    return Buffer.from(await got.arrayBuffer());
  };
  /** How many pixels are near a color of the pattern, and how many within the area are not black. */
  const pixels = (bytes: Buffer): Promise<{ secret: number; bright: number; width: number }> =>
    app.page.evaluate(async ([text, one, other, { x, y, w, h }]) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))]));
      const canvas = new OffscreenCanvas(image.width, image.height);
      const c = canvas.getContext('2d');
      c?.drawImage(image, 0, 0);
      const all = c?.getImageData(0, 0, image.width, image.height).data ?? [];
      let [secret, bright] = [0, 0];
      for (let at = 0; at < all.length; at += 4) {
        const rgb = [0, 1, 2].map((n) => all[at + n] ?? 0);
        if ([one, other].some((color) => color.every((part, n) => Math.abs(part - (rgb[n] ?? 0)) < 40))) secret++;
        const [column, row] = [(at / 4) % image.width, Math.floor(at / 4 / image.width)];
        if (column >= x && column < x + w && row >= y && row < y + h && Math.max(...rgb) > 40) bright++;
      }
      return { secret, bright, width: image.width };
    }, [bytes.toString('base64'), first, second, area] as const);
  expect((await pixels(Buffer.from(plain, 'base64'))).secret).toBe(area.w * area.h);
  const stored = await get('');
  expect(await pixels(stored)).toEqual({ secret: 0, bright: 0, width: 200 });
  expect((await pixels(await get('?width=100'))).secret).toBe(0);
  // Nor does a file beside it have the picture as it was, or what it said in words.
  const kept = await readdir(path.join(server.dir, 'attachments'), { recursive: true, withFileTypes: true });
  let pictures = 0;
  for (const entry of kept.filter((one) => one.isFile())) {
    const bytes = await readFile(path.join(entry.parentPath, entry.name));
    expect(bytes.includes('4182')).toBe(false);
    if (bytes.subarray(1, 4).toString() !== 'PNG') continue;
    pictures++;
    expect((await pixels(bytes)).secret).toBe(0);
  }
  expect(pictures).toBe(1);
});

test('a step has its own note and screenshot, of the desktop the server runs on', async ({ page }) => {
  const screen = await Screen.start();
  const server = await Server.start([], screen.env);
  const app = new Console(page, server);
  try {
    const bot = await server.agent('qa-runner');
    const { id, result } = await ask(bot, 'desktop', { action_sequence: ['Open Signer', 'Save'] });
    await app.open();
    await app.openOperation(id);
    await app.page.getByRole('listitem').filter({ hasText: 'Save' }).hover();
    await app.button('Take a screenshot of step 2').click();
    const choose = app.page.getByRole('dialog', { name: 'What do you want to capture?' });
    await expect(choose).toContainText('Display 1');
    await accessible(page);
    await choose.getByRole('button', { name: /^Display 1/ }).click();
    const mark = app.page.getByRole('dialog', { name: 'Mark the screenshot?' });
    await expect(mark.getByRole('spinbutton', { name: 'Width' })).not.toHaveValue('0');
    await mark.getByRole('button', { name: 'Attach', exact: true }).click();
    await expect(app.page.getByRole('listitem').filter({ hasText: /^Save/ })).toContainText('screenshot-');
    await app.page.locator('#operation-title').focus();
    await app.press('1', `${mod}+Enter`);
    await bot.until(id, (op) => !!op.result);
    expect((await result()).steps).toEqual([{ step: 2, attachments: [expect.stringMatching(/^att_/) as unknown as string] }]);
    expect(app.errors).toEqual([]);
    // Agents have no pictures of the desktop.
    await expect(bot.call('POST', '/api/captures', { kind: 'all' })).rejects.toThrow('403');
  } finally {
    await server.end();
    await screen.end();
  }
});
