import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { accessibleInBothThemes, expect, fits, mod, resize, test, type Console } from './support/test';
import type { Agent, Operation, Server } from './support/server';

const details = {
  required_action: 'Unlock the state', why_agent_cant: 'The sign-in asks for a touch on a hardware key.', expected_outcome: 'No lock, and the account you signed in to',
  command: ['echo signed-in', 'rm -rf /srv/state/lock', 'printf one\nprintf two'],
};
const ring = (bot: Agent, server: Server): Promise<Operation> =>
  bot.ring({ action_type: 'bash', description: 'Sign in and unlock the state', timeout: 3600, details: { ...details, folder: server.dir } });

interface State {
  running: boolean;
  recording_id: string;
  commands: { id: string; text: string; exit_code?: number; suggestion?: number }[];
}
const state = (server: Server, id: string): Promise<State> => server.operator.call('GET', `/api/operations/${id}/terminal`);

/** Opens the terminal of an operation by its button, and waits for the prompt. */
async function opened(app: Console, op: Operation): Promise<void> {
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Claim and open terminal').click();
  await expect(app.button('Insert').first()).toBeEnabled();
}

/** Types a line into the shell, and waits until it was run. */
async function runs(page: Page, server: Server, id: string, line: string): Promise<void> {
  const { length } = (await state(server, id)).commands;
  await page.keyboard.type(`${line}\n`);
  await expect.poll(async () => (await state(server, id)).commands[length]?.exit_code).not.toBeUndefined();
}

/** Every file under a folder that holds a text. */
async function holding(dir: string, text: string): Promise<string[]> {
  const files = (await readdir(dir, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const found = await Promise.all(files.map(async (file) => ((await readFile(file).catch(() => Buffer.alloc(0))).includes(text) ? [file] : [])));
  return found.flat();
}

const terminal = (page: Page) => page.getByRole('textbox', { name: 'Terminal input' });

test('a person claims, inserts, runs, types a password, stops and sends; the agent reads what was run', async ({ app, server, bot }) => {
  const op = await ring(bot, server);
  const id = op.operation_id;
  const { page } = app;
  await opened(app, op);
  expect((await bot.operation(id)).claimed_by).toBe('mei');
  await expect(page.getByRole('region', { name: 'Terminal', exact: true })).toContainText('Recording');

  // Inserted is not run, however often and long Enter is pressed on the button.
  const first = app.button(/^Insert/).first();
  await first.focus();
  await page.keyboard.down('Enter');
  await page.keyboard.down('Enter');
  await page.keyboard.up('Enter');
  await expect(page.getByText('at the prompt')).toBeVisible();
  await expect(terminal(page)).toBeFocused();
  await page.keyboard.press('ArrowLeft');
  await page.keyboard.press('ArrowRight');
  expect((await state(server, id)).commands).toEqual([]);
  await expect.poll(async () => {
    await page.keyboard.press('Enter');
    return (await state(server, id)).commands[0]?.exit_code;
  }).toBe(0);
  await expect(page.getByText('run, exit 0')).toBeVisible();

  await runs(page, server, id, '(exit 7)');
  await expect(page.getByRole('list', { name: 'How each command ended' })).toContainText('exit 7');
  await expect(page.getByText('1 failed')).toBeVisible();
  const password = 'Tr0ub4dor-and-more';
  await page.keyboard.type("read -s -p 'Password: ' pw\n");
  await expect(page.getByText('masked, not recorded')).toBeVisible();
  await page.keyboard.type(`${password}\n`);
  await expect.poll(async () => (await state(server, id)).commands.at(-1)?.exit_code).toBe(0);
  await accessibleInBothThemes(page);

  await page.keyboard.press('Control+Shift+Escape');
  await expect(page.getByRole('textbox', { name: 'Your answer' })).toBeFocused();
  await page.keyboard.type('The first try failed.');
  await page.keyboard.press(`${mod}+Enter`);
  await expect(page).toHaveURL(new RegExp(`#/findings/${id}`));
  await page.getByRole('switch', { name: /^Complete recording/ }).check();
  await app.armed();
  await page.getByRole('heading', { level: 1 }).click();
  await page.keyboard.press('1');
  await page.keyboard.press(`${mod}+Enter`);
  const done = await bot.until(id, ({ state: is }) => is === 'completed');
  expect(done.result?.human_input).toBe('The first try failed.');
  const recording = done.recordings[0] ?? '';
  const { actions } = await bot.call<{ actions: { type: string; command?: { exit_code?: number } }[] }>('GET', `/api/recordings/${recording}/actions`);
  expect(actions.filter(({ type }) => type === 'command').map(({ command }) => command?.exit_code)).toEqual([0, 7, 0]);

  // The player draws it, under the policy of scripts that the page has.
  await app.go(`recordings/${recording}`);
  const cast = page.getByRole('region', { name: 'Terminal recording' });
  await cast.getByRole('slider', { name: 'Time in the recording' }).press('End');
  await expect(cast.locator('.stage')).toContainText('exit 7');
  await page.goto('about:blank'); // else it tries to reach the server again
  await server.stop();
  expect(await holding(server.dir, password)).toEqual([]);
});

test('by the keyboard alone: in, several lines, out again; all keys are the shell’s while it has the keyboard', async ({ app, server, bot }) => {
  const op = await ring(bot, server);
  const { page } = app;
  await app.open();
  await app.openOperation(op.operation_id);
  await page.keyboard.press('t');
  await expect(app.button('Insert').first()).toBeEnabled();
  await page.keyboard.press('Alt+3');
  await expect(terminal(page)).toBeFocused();
  await expect(page.getByText('at the prompt')).toBeVisible();
  expect((await state(server, op.operation_id)).commands).toEqual([]);
  // Keys of the page do nothing of the page's in here.
  for (const key of ['d', 's', `${mod}+k`, 'Tab', 'Escape', `${mod}+c`]) await page.keyboard.press(key);
  await expect(page.getByRole('dialog')).toHaveCount(0);
  await expect(terminal(page)).toBeFocused();
  await page.keyboard.press('Control+Shift+Escape');
  await expect(terminal(page)).not.toBeFocused();
  await resize(page, 720, 800);
  await fits(page, '.decide .btn');
  await accessibleInBothThemes(page);
});

test('what broke is connected again with what was shown; a shell that ended can be started anew', async ({ app, server, bot }) => {
  const op = await ring(bot, server);
  const { page } = app;
  const sockets: { close(): void }[] = [];
  await page.routeWebSocket(/terminal\/socket/, (socket) => {
    const there = socket.connectToServer();
    sockets.push({ close: () => { void socket.close({ code: 1011 }).then(() => there.close()); } });
  });
  await opened(app, op);
  await page.keyboard.press('t');
  await runs(page, server, op.operation_id, 'false');
  sockets[0]?.close();
  await expect.poll(() => sockets.length).toBe(2);
  await expect(page.getByRole('list', { name: 'How each command ended' })).toContainText('exit 1');
  await terminal(page).focus();
  await page.keyboard.type('exit 3\n');
  await expect(page.getByText('Shell ended, exit 3')).toBeVisible();
  await app.button('Restart').click();
  await expect(app.button('Insert').first()).toBeEnabled();
});
