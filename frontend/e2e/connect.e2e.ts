import { execFileSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Home, settings } from './support/home';
import { accessibleInBothThemes, Console, expect, fits, resize, test as base } from './support/test';

interface Fixtures {
  /** A home folder where some clients are installed. */
  home: string;
}

const test = base.extend<Fixtures & { whole: Home }>({
  whole: async ({}, use) => {
    const home = await Home.make();
    await use(home);
    await home.end();
  },
  home: async ({ whole }, use) => use(whole.dir),
  server: async ({ whole }, use) => {
    const server = await whole.serve();
    await use(server);
    await server.end();
  },
});

const read = (home: string, name: string): Promise<string> => readFile(path.join(home, name), 'utf8');
const row = (app: Console, id: string) => app.page.locator(`[data-client="${id}"]`);
const panel = (app: Console, name: string) => app.page.getByRole('region', { name, exact: true });

test('a client is connected by a click, proved by a request that is answered here, and put back byte for byte', async ({ app, page, home }) => {
  test.setTimeout(120_000);
  await app.open('agents');
  await expect(row(app, 'claude-code')).toContainText('Found');
  await row(app, 'claude-code').getByRole('button', { name: 'Details of Claude Code' }).click();
  const claude = panel(app, 'Claude Code');
  // What would be written is shown before anything is.
  await expect(claude.getByRole('region', { name: path.join(home, '.claude.json') })).toContainText('"deskbell"');
  await expect(claude.getByRole('region', { name: path.join(home, '.claude/settings.json') })).toContainText('mcp__deskbell');
  expect(await read(home, '.claude.json')).toBe(settings['.claude.json']);
  await accessibleInBothThemes(page);

  await claude.getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(row(app, 'claude-code')).toContainText('Connected');
  const written = JSON.parse(await read(home, '.claude.json')) as { theme: string; mcpServers: Record<string, { command: string; args: string[] }> };
  expect(written.theme).toBe('dark');
  expect(written.mcpServers.deskbell?.args.slice(0, 3)).toEqual(['mcp', '--agent', 'claude-code']);
  expect(path.isAbsolute(written.mcpServers.deskbell?.command ?? '')).toBe(true);
  await expect(claude).toContainText('Changed in its settings');
  await page.reload();
  await row(app, 'claude-code').getByRole('button', { name: 'Details of Claude Code' }).click();
  await expect(claude.getByRole('region', { name: path.join(home, '.claude.json') })).toContainText('"deskbell"');

  // The test: the very command of the settings asks, and the answer goes back through it.
  await app.press('t');
  const card = page.locator('[data-card]');
  await expect(card).toContainText('Claude Code', { timeout: 40_000 });
  await expect(row(app, 'claude-code')).toContainText('Connected');
  await accessibleInBothThemes(page);
  await card.getByRole('button', { name: 'It works' }).click();
  await card.getByRole('button', { name: /Send/ }).click();
  await expect(claude).toContainText('Claude Code reached you', { timeout: 30_000 });
  await expect(claude).toContainText('your answer went back the same way', { timeout: 30_000 });

  await app.press('u');
  await expect(row(app, 'claude-code')).toContainText('Found');
  await expect(claude).toContainText('settings are restored');
  for (const name of ['.claude.json', '.claude/settings.json']) expect(await read(home, name)).toBe(settings[name]);
});

test('all that were found are connected at one click, and each is undone byte for byte', async ({ app, home }) => {
  test.setTimeout(120_000);
  await app.open('agents');
  await app.button('Connect all found').click();
  for (const id of ['claude-code', 'codex', 'gemini', 'opencode']) {
    await expect(row(app, id)).toContainText('Connected', { timeout: 20_000 });
    await row(app, id).getByRole('button', { name: /^Details/ }).click();
    await app.button('Undo').click();
    await expect(row(app, id)).toContainText('Found');
  }
  for (const [name, text] of Object.entries(settings)) expect(await read(home, name), name).toBe(text);
});

test('nothing is written that was not shown', async ({ app, page, home }) => {
  await app.open('agents');
  await row(app, 'codex').getByRole('button', { name: /^Details/ }).click();
  await expect(panel(app, 'Codex')).toContainText('mcp_servers.deskbell');
  const mine = `${settings['.codex/config.toml']}model_reasoning_effort = "high"\n`;
  await writeFile(path.join(home, '.codex/config.toml'), mine);
  await panel(app, 'Codex').getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('Nothing was written');
  expect(await read(home, '.codex/config.toml')).toBe(mine);
  await expect(panel(app, 'Codex')).toContainText('model_reasoning_effort');
  await panel(app, 'Codex').getByRole('button', { name: 'Connect', exact: true }).click();
  await expect(row(app, 'codex')).toContainText('Connected');
  expect(await read(home, '.codex/config.toml')).toContain('model_reasoning_effort = "high"');
  app.errors.length = 0; // a refused call is logged by the browser
});

test('a file that cannot be read is not written, and is named', async ({ app, home }) => {
  await writeFile(path.join(home, '.gemini/settings.json'), '{ "ui": ');
  await app.open('agents');
  await expect(row(app, 'gemini')).toContainText('Needs attention');
  await row(app, 'gemini').getByRole('button', { name: /^Details/ }).click();
  await expect(panel(app, 'Gemini CLI')).toContainText('settings.json');
  await expect(panel(app, 'Gemini CLI').getByRole('button', { name: 'Connect', exact: true })).toHaveCount(0);
  expect(await read(home, '.gemini/settings.json')).toBe('{ "ui": ');
});

test('by the keyboard, in a narrow window, with what is written under each', async ({ app, page }) => {
  await resize(page, 390, 844);
  await app.open('agents');
  await expect(row(app, 'claude-code')).toBeVisible();
  await app.press('j');
  await expect(row(app, 'claude-code').getByRole('button', { name: /^Details/ })).toBeFocused();
  await expect(row(app, 'claude-code').getByRole('button', { name: /^Details/ })).toHaveAttribute('aria-expanded', 'true');
  await expect(row(app, 'claude-code')).toContainText('What Connect will write');
  await fits(page);
  await accessibleInBothThemes(page);
});

test('lines to connect by hand name the real program', async ({ app, page }) => {
  await app.open('agents');
  await app.button(/^Another client/).click();
  const real = execFileSync('readlink', ['-f', process.env.DESKBELL_BIN ?? path.resolve(import.meta.dirname, '../../build/bin/deskbell')]).toString().trim();
  for (const client of ['Claude Code', 'Codex', 'Gemini CLI', 'Cursor', 'VS Code', 'opencode']) {
    await page.getByRole('button', { name: client, exact: true }).click();
    await expect(page.locator('pre').first()).toContainText(real);
  }
});

test('the first run connects, too', async ({ app, page, home }) => {
  await app.open();
  await app.button('Continue').click();
  await app.button('Continue').click();
  await expect(page.getByRole('heading', { name: 'Connect your agents' })).toBeFocused();
  await row(app, 'opencode').getByRole('button', { name: 'Connect opencode' }).click();
  await expect(row(app, 'opencode')).toContainText('Connected');
  expect(await read(home, '.config/opencode/opencode.json')).toContain('// kept');
  await expect(row(app, 'opencode').getByRole('button', { name: 'Test' })).toBeVisible();
  await accessibleInBothThemes(page);
});
