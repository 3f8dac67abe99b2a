import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { Model, music } from './support/model';
import { accessible, expect, fits, resize, test as base } from './support/test';

const test = base.extend<{ model: Model; home: string }>({
  model: async ({}, use) => {
    const model = await Model.start();
    await use(model);
    model.end();
  },
  // Where the tools run.
  home: async ({}, use) => {
    const home = await mkdtemp(path.join(tmpdir(), 'deskbell-work-'));
    await use(home);
    await rm(home, { recursive: true, force: true });
  },
  server: async ({ model, home }, use) => {
    const server = await model.serve([], { HOME: home });
    await use(server);
    await server.end();
  },
});

const input = (page: Page) => page.locator('[data-chat-input]');
const log = (page: Page) => page.getByRole('log', { name: /^(Messages|消息)$/ });

/** Chooses an agent for a new conversation, and writes to it. */
async function begin(page: Page, agent: string, message: string): Promise<void> {
  await page.getByRole('radio', { name: new RegExp(`^${agent} `) }).check();
  await input(page).fill(message);
  await page.keyboard.press('Enter');
}

test('the dialogue of the music assistant, word by word', async ({ app, page, model, server }) => {
  await model.script(music);
  await app.open('agents/chat');
  await expect(input(page)).toBeFocused();
  await expect(app.button(/^Send/)).toBeDisabled();
  await accessible(page);
  await begin(page, 'music', '播放音乐');
  await expect(log(page).getByText('好的，请问想听什么歌？')).toBeVisible();
  await expect(page).toHaveURL(/#\/agents\/chat_/);
  await expect(log(page).getByText('Asks you')).toBeVisible();
  await expect(input(page)).toHaveAttribute('placeholder', 'Your answer to music');
  await expect(input(page)).toBeFocused();
  await accessible(page);
  await input(page).fill('周杰伦的');
  await page.keyboard.press('Enter');
  await expect(log(page).getByText('好的，想听周杰伦的哪首歌？')).toBeVisible();
  await expect(log(page).getByText('Asks you')).toHaveCount(1);
  await input(page).fill('晴天');
  await page.keyboard.press('Enter');
  // The gatekeeper asks before the tool runs: the conversation says what it waits for.
  await expect(page.getByText('Waiting for you.')).toBeVisible();
  await expect(page.getByRole('status').filter({ hasText: 'music is working…' })).toBeVisible();
  const { operations } = await server.operator.call<{ operations: { operation_id: string; digest: string }[] }>('GET', '/api/human/operations?state=open');
  await expect(page.getByRole('link', { name: 'Open the request' })).toHaveAttribute('href', `#/inbox/${operations[0]?.operation_id}`);
  await server.operator.call('POST', `/api/gate/questions/${operations[0]?.operation_id}/answer`, { choice: 'allow', digest: operations[0]?.digest });
  await expect(log(page).getByText('正在播放周杰伦的《晴天》。')).toBeVisible();
  await expect(log(page).getByRole('listitem')).toContainText('mcp__music__play_music');
  await expect(log(page).getByRole('listitem')).toContainText('done');
  await expect(page.getByText('Waiting for you.')).toHaveCount(0);
  await expect(log(page).locator('.msg')).toHaveCount(6);
  // It is in the list, opens again, and takes the next message.
  const row = page.locator('a[data-chat]');
  await expect(row).toContainText('播放音乐');
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await expect(row).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(log(page).locator('.msg')).toHaveCount(6);
  await input(page).fill('播放音乐');
  await page.keyboard.press('Enter');
  await expect(log(page).locator('.msg')).toHaveCount(8);
  await page.reload();
  await expect(log(page).locator('.msg')).toHaveCount(8);
  await resize(page, 480, 800);
  await fits(page, 'button');
});

test('an answer is stopped, and the same message continues; one that failed says why, and is tried again', async ({ app, page, model }) => {
  await model.script([{ when: { says: '晴天' }, wait_ms: 60_000, text: '…' }]);
  await app.open('agents/chat');
  await begin(page, 'music', '晴天');
  await expect(page.getByRole('status').filter({ hasText: 'music is working…' })).toBeVisible();
  await expect(page).toHaveURL(/#\/agents\/chat_/);
  await app.button('Stop').click();
  await expect(page.getByText('The answer was stopped.')).toBeVisible();
  await model.script([{ do: 'denied' }, { text: '好的。' }]);
  await app.button('Try again').click();
  await expect(page.getByText('music could not answer.')).toBeVisible();
  await expect(log(page)).toContainText('It failed:');
  await accessible(page);
  await app.button('Try again').click();
  await expect(log(page).getByText('好的。')).toBeVisible();
  await expect(page.getByText('music could not answer.')).toHaveCount(0);
  app.errors.length = 0; // a refused call is logged by the browser
});

test('what is not sent stays: a folder that is not there, and what is written meanwhile', async ({ app, page, model }) => {
  await model.script(music);
  await app.open('agents/chat');
  await page.getByRole('radio', { name: /^music / }).check();
  await page.getByRole('textbox', { name: 'Folder' }).fill('/nowhere/at/all');
  await input(page).fill('播放音乐');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('alert')).toContainText('is not there, or is no folder');
  await expect(input(page)).toHaveValue('播放音乐');
  await page.getByRole('textbox', { name: 'Folder' }).fill('');
  await input(page).press('Enter');
  await expect(log(page).getByText('好的，请问想听什么歌？')).toBeVisible();
  await expect(input(page)).toHaveValue('');
  app.errors.length = 0; // a refused call is logged by the browser
});

test('what another agent began is marked', async ({ app, page, model, server }) => {
  await model.script(music);
  const bot = await server.agent('release-bot');
  await bot.call('POST', '/api/agent/music/messages', { message: '播放音乐' });
  await app.open('agents/chat');
  const row = page.locator('a[data-chat]');
  await expect(row).toContainText('started by release-bot');
  await expect(row).toContainText('Asks release-bot');
  await row.click();
  await expect(log(page).locator('.msg').first()).toContainText('release-bot');
});

test('a run is started, stopped and resumed', async ({ app, page, model }) => {
  await model.script([{ when: { first: 'Look around' }, wait_ms: 60_000, text: '…' }]);
  await app.open('agents/runs');
  await app.button('New run').click();
  const dialog = page.getByRole('dialog');
  await expect(dialog.getByRole('textbox', { name: 'Task' })).toBeFocused();
  await accessible(page);
  await dialog.getByRole('textbox', { name: 'Task' }).fill('Look around in the folder');
  await dialog.getByRole('radio', { name: /^deskbell-agent / }).check();
  await dialog.getByRole('button', { name: /^Start/ }).click();
  await expect(page.getByRole('heading', { name: 'Look around in the folder' })).toBeVisible();
  await app.button('Stop').click();
  await expect(page.locator('header').getByText('Interrupted')).toBeVisible();
  await expect(page.getByText('It was interrupted.')).toBeVisible();
  await model.script([{ when: { first: 'Look around' }, calls: [{ name: 'finish', args: { outcome: 'done', note: 'There is nothing here.' } }] }]);
  await app.button('Resume').click();
  await expect(page.locator('header').getByText('Completed', { exact: true })).toBeVisible();
  await expect(page.getByRole('log')).toContainText('There is nothing here.');
});
