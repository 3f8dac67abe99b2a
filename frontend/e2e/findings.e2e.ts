import { execFile, spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Screen } from './support/screen';
import { visit } from './support/seeds';
import { Server, type Finding, type Operation } from './support/server';
import { accessible, accessibleInBothThemes, choose, Console, expect, fits, mod, resize, test } from './support/test';
import { browserPath, Vendor } from './support/vendor';

interface Drafts {
  summaries: { summary_id: string; summarizer: string; state: string; report: { findings: Finding[]; suggestions: Finding[]; line: string }; instead_of?: string }[];
}

const rows = (app: Console) => app.page.getByRole('region', { name: /^(Key findings|Drafted from)/ }).locator('[data-finding-row]');
const words = (app: Console) => app.page.getByRole('region', { name: /^(Key findings|Drafted from)/ }).locator('.say');
const leaves = (app: Console) => app.page.getByRole('group', { name: /^What the agent will get/ });
const drafts = (server: Server, id: string): Promise<Drafts> => server.operator.call('GET', `/api/human/operations/${id}/summaries`);

/** Opens the findings of an operation, and waits until they can be released. */
async function open(app: Console, id: string): Promise<void> {
  await app.go(`findings/${id}`);
  await expect(app.page.getByRole('heading', { name: 'What the agent will get' })).toBeVisible();
  await app.armed();
}

test('what was recorded is drafted, put right, kept through a crash, and released: the agent gets that and nothing else', async ({ page }) => {
  test.slow();
  const screen = await Screen.start();
  const vendor = await Vendor.start();
  const server = await Server.start([], { ...screen.env, HOME: screen.dir, DESKBELL_RECORDING_BROWSER_PATH: await browserPath(screen) });
  const app = new Console(page, server);
  try {
    const id = await visit(server, screen, vendor);
    const bot = await server.agent('price-scout');
    await app.open();
    await app.openOperation(id);
    await expect(page.getByRole('textbox', { name: 'unit_price_usd' })).toHaveValue('0.00042');
    await expect(page.getByText(/^Draft saved/).first()).toBeVisible();
    // One key ends the recording and leads to what was found.
    await app.press(`${mod}+Enter`);
    await expect(page.getByText('drafted by summarizer “Browser”', { exact: true })).toBeVisible();
    const [drafted] = (await drafts(server, id)).summaries;
    if (!drafted) throw new Error('make a draft');
    const all = drafted.report.findings.map((finding) => finding.text);
    expect(all.length).toBeGreaterThan(4);
    await expect(words(app)).toHaveText(all);
    await expect(leaves(app)).toContainText('completed');
    await expect(page.getByRole('region', { name: 'Suggestions' }).locator('.say')).toHaveCount(drafted.report.suggestions.length);

    // A piece of evidence opens its step; coming back, what was being written is still there.
    await words(app).nth(1).click();
    const editor = page.getByRole('textbox', { name: 'Finding 2' });
    await editor.fill('Half a sentence');
    await rows(app).first().getByRole('link', { name: /^Show evidence: 0/ }).first().click();
    await expect(page.locator('[aria-current="step"]')).toContainText('Picked plan_name');
    await page.reload();
    await expect(page.locator('[aria-current="step"]')).toContainText('Picked plan_name');
    await app.button('Back to findings').click();
    await expect(editor).toHaveValue('Half a sentence');
    await editor.press('Escape');
    await expect(words(app).nth(1)).toHaveText(all[1] ?? '');

    // Keys alone: edit, cut, put back, cut again, move, add.
    await expect(words(app).nth(1)).toBeFocused();
    await app.press('k', 'e');
    await page.getByRole('textbox', { name: 'Finding 1' }).fill('The plan is Scale 2026');
    await app.press('Enter');
    await expect(words(app).first()).toHaveText('The plan is Scale 2026');
    await expect(words(app).first()).toBeFocused();
    await app.press('j', 'x');
    await expect(rows(app).last()).toContainText('Stays on this machine');
    await rows(app).last().getByRole('button', { name: /^Restore/ }).click();
    await expect(words(app)).toHaveCount(all.length);
    await words(app).last().focus();
    await app.press('x');
    await expect(words(app)).toHaveText(['The plan is Scale 2026', ...all.slice(2)]);
    await words(app).nth(2).focus();
    await app.press('Alt+ArrowUp', 'Alt+ArrowUp');
    await expect(words(app)).toHaveText([all[3] ?? '', 'The plan is Scale 2026', all[2] ?? '', ...all.slice(4)]);
    await expect(words(app).first()).toBeFocused();
    await app.press('n');
    await page.getByPlaceholder('What the agent should know').fill('Ask Mei for the invoice');
    await app.press('Enter');
    // And by the pointer: the last of them to the top.
    const from = await rows(app).filter({ hasText: 'Ask Mei' }).getByRole('button', { name: /^Move finding/ }).boundingBox();
    const to = await rows(app).first().boundingBox();
    if (!from || !to) throw new Error('no rows');
    await page.mouse.move(from.x + 8, from.y + 8);
    await page.mouse.down();
    await page.mouse.move(to.x + 40, to.y + 4, { steps: 6 });
    await page.mouse.up();
    const kept = ['Ask Mei for the invoice', all[3] ?? '', 'The plan is Scale 2026', all[2] ?? '', ...all.slice(4)];
    await expect(words(app)).toHaveText(kept);
    await expect(app.page.locator('#find-findings + span')).toContainText(`${kept.length} to send, 1 removed`);

    await app.button('Edit summary').click();
    await page.getByRole('textbox', { name: 'Summary' }).fill('Read plan and prices.');
    await app.press('Enter');
    await app.page.getByRole('button', { name: 'Done', exact: true }).click();
    // The switches stand below what is sent, which has just become longer.
    await expect(leaves(app)).toContainText('Read plan and prices.');
    await page.getByRole('switch', { name: /small screenshots?, on request/ }).check();
    // The whole recording leaves only where the operator says so.
    await expect(leaves(app)).not.toContainText('attachments');
    await page.getByRole('switch', { name: /^Complete recording/ }).check();
    await expect(leaves(app)).toContainText('attachments');
    await page.getByRole('switch', { name: /^Complete recording/ }).uncheck();
    await expect(leaves(app)).not.toContainText('attachments');
    await expect(leaves(app)).not.toContainText(all[1] ?? '');
    await expect(leaves(app)).toContainText('The plan is Scale 2026e');
    await expect.poll(async () => (await server.operator.operation(id)).draft?.findings?.map((finding) => finding.text)).toEqual([...kept, all[1]]);
    await expect(page.getByText(/^Draft saved \d\d/)).toBeVisible();

    // A crash of the server, and a new window: nothing is lost.
    await server.stop('SIGKILL');
    await server.again();
    await page.goto('about:blank');
    await app.open();
    app.errors.length = 0; // a broken line logs errors of its own
    await open(app, id);
    await expect(words(app)).toHaveText(kept);
    await expect(page.getByRole('group', { name: 'Summary' })).toContainText('Read plan and prices.');
    await expect(page.getByRole('switch', { name: /^Complete recording/ })).not.toBeChecked();
    await expect(page.getByText('drafted by summarizer “Browser”, edited by you')).toBeVisible();

    await accessibleInBothThemes(page);
    for (const width of [1000, 720, 640]) {
      await resize(page, width);
      await fits(page);
      await expect(app.button(/^Send to price-scout/)).toBeInViewport({ ratio: 1 });
    }
    await resize(page, 1280, 800);

    // What is still being written is kept first, and looked at; the second press releases.
    await words(app).first().click();
    await page.getByRole('textbox', { name: 'Finding 1' }).fill('Ask Mei for the invoices');
    await app.press(`${mod}+Enter`);
    await expect(page.getByText('Your unfinished text is kept').first()).toBeVisible();
    expect((await bot.operation(id)).result).toBeUndefined();
    await expect(leaves(app)).toContainText('Ask Mei for the invoices');
    await app.press(`${mod}+Enter`);
    const answered = (await bot.until(id, (op) => !!op.result)).result;
    expect(answered?.findings?.map(({ text, by_hand: byHand }) => [text, !!byHand])).toEqual(['Ask Mei for the invoices', ...kept.slice(1)].map((text) => [text, text.startsWith('Ask') || text.startsWith('The plan')]));
    expect(answered?.summary).toBe('Read plan and prices.');
    expect(answered?.attachments).toBeUndefined();
    expect(JSON.stringify(answered)).not.toContain(all[1]);
    expect(answered?.findings?.some((finding) => 'finding_id' in finding || 'cut' in finding)).toBe(false);
    // The agent asks for the evidence, and gets it, with a picture; the recording itself it does not.
    const evidence = await bot.call<Record<string, unknown>>('GET', `/api/human/operations/${id}/evidence/e1`);
    expect(JSON.stringify(evidence)).toContain('0.00042');
    const rec = answered?.findings?.[1]?.evidence[0]?.recording_id ?? '';
    await expect(bot.call('GET', `/api/recordings/${rec}/actions`)).rejects.toThrow('404');

    // The operator sees what went out, on what it rests, and what they made of the draft.
    await expect(page.getByText('drafted by summarizer “Browser”, 1 edited, 1 removed, 1 added')).toBeVisible();
    const key = page.getByRole('region', { name: 'Key findings' });
    await expect(key.getByRole('link').first()).toBeVisible();
    await accessible(page);
    await key.getByRole('link').first().click();
    await expect(page.locator('[aria-current="step"]')).toContainText('Picked unit_price_usd');
    await app.button('Back to request').click();
    await expect(page.locator('#operation-title')).toBeVisible();
    expect(app.errors).toEqual([]);
  } finally {
    await server.end();
    await vendor.end();
    await screen.end();
  }
});

/** The model of the tests, behind the protocols that real ones speak. It says what it was asked on standard error. */
async function startModel(dir: string): Promise<{ url: string; key: string; model: string; asked: () => number; end: () => void }> {
  const program = path.join(dir, 'model');
  await promisify(execFile)('go', ['build', '-o', program, './backend/llm/llmtest/serve'], { cwd: path.resolve(import.meta.dirname, '../..') });
  const child = spawn(program, ['-addr', '127.0.0.1:0'], { stdio: ['ignore', 'pipe', 'pipe'] });
  let asked = 0;
  createInterface(child.stderr).on('line', (line) => (asked += line.includes('POST') ? 1 : 0));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('exit', (code) => reject(new Error(`the model ended with ${code}`)));
  });
  return { ...(JSON.parse(line) as { url: string; key: string; model: string }), asked: () => asked, end: () => child.kill('SIGKILL') };
}

test('a model is asked after its operator saw what is sent; one that fails has another serve; drafts stand side by side', async ({ page }) => {
  test.slow();
  const dir = await mkdtemp(path.join(tmpdir(), 'deskbell-model-'));
  const model = await startModel(dir);
  const server = await Server.start([], { DESKBELL_MODEL_PROVIDER: 'openai', DESKBELL_MODEL_NAME: model.model, DESKBELL_MODEL_BASE_URL: `${model.url}/v1`, DESKBELL_MODEL_KEY: model.key });
  const app = new Console(page, server);
  try {
    for (const [name, file] of [['broken', 'exit 3'], ['slow', 'exec sleep 60']] as const) {
      await mkdir(path.join(server.dir, 'summarizers', name), { recursive: true });
      await writeFile(path.join(server.dir, 'summarizers', name, 'run.sh'), `#!/bin/sh\n${file}\n`, { mode: 0o755 });
      const manifest = { name, title: { en: name === 'broken' ? 'Broken' : 'Slow', 'zh-CN': name }, version: '1', command: ['sh', './run.sh'], sources: ['answer'], languages: ['en'], limit_s: 60 };
      await writeFile(path.join(server.dir, 'summarizers', name, 'summarizer.json'), JSON.stringify(manifest));
    }
    const bot = await server.agent('scout');
    const op = await bot.ring({ action_type: 'bash', description: 'Rotate the signing key', timeout: 600, details: { command: 'keyctl rotate' } });
    await server.operator.call('POST', '/api/human/input', { operation_id: op.operation_id, execution_result: 'Rotated, 3 of 3 hosts', human_input: 'The old key is in the safe.' });

    // Nothing was recorded: the view is not forced on anybody, and there all the same.
    await app.open();
    await app.openOperation(op.operation_id);
    await expect(app.button('Send answer')).toBeVisible();
    await app.press(`${mod}+k`);
    await page.getByRole('combobox').fill('Review findings');
    await app.press('Enter');
    await expect(page.getByText('No findings')).toBeVisible();
    await accessible(page);
    await app.button('Draft').click();
    await expect(page.getByText('drafted by summarizer “Answer”', { exact: true })).toBeVisible();

    // The model: nothing goes to it before its operator has seen all of it and agreed.
    const drafter = page.getByLabel('Summarizer');
    const about = (await server.operator.call<{ summarizers: { name: string; model?: string; title: Record<string, string> }[] }>('GET', '/api/summarizers')).summarizers.find((one) => one.model);
    if (!about) throw new Error('no model');
    await choose(drafter, about.name);
    await app.button('Preview what is sent…').first().click();
    const dialog = page.getByRole('dialog');
    await expect(dialog).toContainText('Rotated, 3 of 3 hosts');
    await expect(dialog).toContainText(new URL(model.url).host);
    await accessible(page);
    await dialog.getByRole('button', { name: "Don't send", exact: true }).click();
    expect(model.asked()).toBe(0);
    await app.button('Preview what is sent…').first().click();
    await dialog.getByRole('button', { name: 'Always for scout' }).click();
    const beside = page.getByRole('region', { name: `Draft by ${about.title.en}` });
    await expect(beside.locator('li').first()).toBeVisible();
    expect(model.asked()).toBe(1);
    await accessible(page);
    const before = await words(app).count();
    const take = beside.getByRole('button', { name: /^Add to your findings/ }).first();
    const taken = (await take.getAttribute('aria-label'))?.replace('Add to your findings: ', '') ?? '';
    await take.click();
    await expect(words(app)).toHaveCount(before + 1);
    await expect(words(app).last()).toContainText(taken.slice(0, 60));
    await resize(page, 720, 700);
    await fits(page);
    await page.getByRole('group', { name: 'Drafts' }).getByRole('button', { name: about.title.en }).click();
    await expect(beside).toBeVisible();
    await expect(words(app)).toHaveCount(0);
    await accessible(page);
    await resize(page, 1280, 800);

    // One that fails says why; what was written stays, and starting over asks first.
    await choose(drafter, 'broken');
    await expect(page.getByRole('region', { name: 'Draft by Broken' })).toContainText("Summarizer “Broken” couldn't make a draft");
    await expect(words(app)).toHaveCount(before + 1);
    // One that takes long shows that it works, and can be stopped.
    await choose(drafter, 'slow');
    await expect(page.getByText('Summarizer “Slow” is drafting')).toBeVisible();
    await accessible(page);
    await app.button('Stop drafting').click();
    await expect(page.getByText('Drafting by summarizer “Slow” was stopped.')).toBeVisible();
    await choose(drafter, 'answer');
    await app.button('Draft again').click();
    await app.button('Use this draft').click();
    await app.button('Keep mine').click();
    await expect(words(app)).toHaveCount(before + 1);
    await app.button('Use this draft').click();
    await page.getByRole('button', { name: 'Use this draft', exact: true }).click();
    await expect(words(app)).toHaveCount(before + 1); // what was taken over is the operator's own
    await app.page.getByRole('button', { name: 'Done', exact: true }).click();
    await app.press(`${mod}+Enter`);
    await bot.until(op.operation_id, (o) => !!o.result);
    // The page leaves for the answered request by itself; only then is it left for another.
    await expect(page.getByRole('status').filter({ hasText: 'Done by mei' })).toBeVisible();

    // How each fared, what may be sent, and taking that back.
    await app.go('settings');
    const scored = page.locator('[data-summarizer="answer"]');
    await expect(scored).toContainText(`${before} kept`);
    await expect(scored).toContainText('1 added');
    await expect(page.locator('[data-summarizer="broken"]')).toContainText('your own');
    await expect(page.locator(`[data-summarizer="${about.name}"]`)).toContainText(`Sends what it reads to ${new URL(model.url).host}`);
    await app.button(/^Revoke: the agent scout/).click();
    await expect(page.getByText('None. A summarizer asks you each time')).toBeVisible();
    await accessible(page);
    expect(app.errors).toEqual([]);
  } finally {
    await server.end();
    model.end();
    await rm(dir, { recursive: true, force: true });
  }
});

test('forty findings, long and hostile ones, have room at every width and are text', async ({ app, server, bot, page }) => {
  const op: Operation = await bot.ring({ action_type: 'bash', description: 'Count the hosts', timeout: 600 });
  const hostile = '<img src=x onerror="document.title=1"> **bold** safe\u202Etxt.exe';
  const findings = Array.from({ length: 40 }, (_, i) => ({ kind: 'note', text: i === 0 ? hostile : i === 1 ? 'a-very-long-word-'.repeat(40) : `Finding number ${i + 1}`, evidence: [{ kind: 'request', id: 'description' }], by_hand: true }));
  await server.operator.call('POST', '/api/human/input', { operation_id: op.operation_id, findings, summary: 'Forty hosts' });
  await app.open();
  await open(app, op.operation_id);
  await expect(words(app)).toHaveCount(40);
  await expect(words(app).first()).toContainText('<img src=x onerror="document.title=1"> **bold** safeU+202Etxt.exe');
  await expect(page.locator('img[src="x"]')).toHaveCount(0);
  expect(await page.title()).not.toBe('1');
  await accessibleInBothThemes(page);
  for (const width of [1440, 1000, 720, 640]) {
    await resize(page, width);
    await fits(page);
    await expect(app.button(/^Send to release-bot/)).toBeInViewport({ ratio: 1 });
  }
  await resize(page, 1280, 800);
  await words(app).nth(1).focus();
  await app.press('j', 'j', 'x', '?');
  await expect(page.getByRole('dialog')).toContainText('Move up');
  await expect(page.getByRole('dialog')).toContainText('Add suggestion');
  await app.press('Escape');
  await expect(app.page.locator('#find-findings + span')).toContainText('39 to send, 1 removed');
  await app.button('Keep for later').click();
  await expect(page.getByText('Nothing leaves this machine')).toHaveCount(0);
  await expect.poll(async () => (await server.operator.operation(op.operation_id)).draft?.findings?.filter((finding) => finding.cut).length).toBe(1);
});
