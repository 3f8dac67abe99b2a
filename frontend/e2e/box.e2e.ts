import { tmpdir } from 'node:os';
import { boxed } from './support/boxes';
import { accessibleInBothThemes, expect, fits, mod, resize, test, type Console } from './support/test';

const ring = { action_type: 'box', description: 'npm run codegen wrote 5 files', details: boxed, session_id: 'web', timeout: 600 };
const select = (app: Console, path: string) => app.page.getByRole('checkbox', { name: `Keep ${path}`, exact: true });
const change = (app: Console, path: string) => app.page.getByRole('region', { name: `Change in ${path}` });

test('what a command wrote in a box is looked at, selected and kept by keyboard alone', async ({ app, bot, server }) => {
  const op = await bot.ring(ring);
  await resize(app.page, 1440, 900);
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(app.page.getByRole('heading', { level: 1 })).toHaveText('npm run codegen wrote 5 files');
  await expect(app.page.locator('.facts')).toContainText('exit code 0 after 12.4 sec');
  await expect(app.page.locator('.facts')).toContainText('your files are unchanged');
  await expect(app.page.getByText('last 8 of 41 lines')).toBeVisible();
  await expect(app.page.getByText('bubblewrap 0.11.0, Landlock, seccomp')).toBeVisible();

  // What runs by itself is shown first, and is not selected.
  await expect(change(app, '.husky/pre-commit')).toContainText('node tools/ping.js');
  await expect(select(app, '.husky/pre-commit')).not.toBeChecked();
  await expect(select(app, 'src/gen/api.ts')).toBeChecked();
  await expect(app.page.getByText('It is not selected.')).toBeVisible();
  await expect(app.page.getByText('4 of 5 selected')).toBeVisible();
  await expect(app.button(/^Discard/)).toHaveClass(/ink/);

  await app.press('n');
  await expect(change(app, 'src/gen/api.ts')).toContainText('currency: Currency;');
  await app.press('n', 'n');
  await expect(change(app, 'src/gen/logo.png')).toContainText('Not shown');
  await app.press('v', 'p');
  await expect(select(app, 'src/gen/logo.png')).not.toBeChecked();
  await expect(change(app, 'src/gen/types.ts')).toContainText('Money');
  await fits(app.page);
  await accessibleInBothThemes(app.page);
  await app.press(`${mod}+k`);
  await expect(app.page.getByText(/^ada kept changes in 3 files at|kept changes in 3 files at/)).toBeVisible();
  const { result } = await server.operator.call<{ result: { decision: string; keep: string[] } }>('GET', `/api/human/operations/${op.operation_id}`);
  expect(result).toMatchObject({ decision: 'approve', keep: ['src/gen/api.ts', 'src/gen/types.ts', 'src/gen/old.ts'] });
});

test('a box is discarded with a reason, and no key in a hurry keeps what runs by itself', async ({ app, bot, server }) => {
  const op = await bot.ring(ring);
  await app.open();
  await app.openOperation(op.operation_id);
  await select(app, '.husky/pre-commit').check();
  await app.armed();
  await expect(app.page.getByText('You selected it.')).toBeVisible();
  await expect(app.button(/^Keep changes in 5 files/)).toHaveClass(/risky/);
  await app.press(`${mod}+k`);
  await app.press('Escape');
  expect((await server.operator.call<{ state: string }>('GET', `/api/human/operations/${op.operation_id}`)).state).not.toBe('completed');
  await app.page.getByRole('textbox', { name: 'Reason' }).fill('Generate without the hook.');
  await app.press(`${mod}+Enter`);
  await expect(app.page.getByText(/discarded everything at/)).toBeVisible();
  const { result } = await server.operator.call<{ result: { decision: string; keep?: string[]; human_input: string } }>('GET', `/api/human/operations/${op.operation_id}`);
  expect(result).toMatchObject({ decision: 'deny', human_input: 'Generate without the hook.' });
  expect(result.keep).toBeUndefined();
});

test('nothing is kept where nothing is selected, and a narrow window has room for all of it', async ({ app, bot }) => {
  const op = await bot.ring({ ...ring, details: { ...boxed, exit_code: 2, reason: '', more: 12, lost: ['.env'], files: [boxed.files[1]] } });
  await resize(app.page, 640, 800);
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(app.page.getByText('12 files more are not listed')).toBeVisible();
  await select(app, 'src/gen/api.ts').uncheck();
  await app.press(`${mod}+k`);
  await expect(app.page.getByRole('alert')).toHaveText('Select a file to keep, or discard.');
  await fits(app.page);
});

test('a question about a command is answered with a box, where this machine has one, and else says why not', async ({ app, server }) => {
  const agent = await server.agent('claude-code');
  const call = { tool: 'Bash', args: { command: "frobnicate 'a b'", description: 'Do it' }, cwd: tmpdir(), session_id: 's 1', client: 'claude-code' };
  const { operation_id: id } = await agent.call<{ operation_id: string }>('POST', '/api/gate/evaluate', call);
  const { box } = await server.operator.call<{ box: { available: boolean; reason?: { text: string } } }>('GET', `/api/gate/questions/${id}`);
  await app.open();
  await app.openOperation(id);
  const choice = app.page.getByRole('radio', { name: /^Run in a box/ });
  if (!box.available) {
    await expect(app.page.getByText(`“Run in a box” is not available here: ${box.reason?.text}`)).toBeVisible();
    await expect(choice).toHaveCount(0);
    return;
  }
  await choice.click();
  await expect(app.button(/^Answer: run in a box/)).toBeVisible();
  await app.press(`${mod}+Enter`);
  await expect(app.page.getByText(/Sent to a box by/)).toBeVisible();
  const judged = await agent.call<{ decision: string; choice: string; args: { command: string; description: string; timeout: number } }>('POST', '/api/gate/evaluate?wait=20', { ...call, operation_id: id });
  expect(judged).toMatchObject({ decision: 'allow', choice: 'box', args: { description: 'Do it', timeout: 600_000 } });
  expect(judged.args.command).toMatch(/deskbell --data \S+ box --ask-operator --agent claude-code --session 's 1' --limit 590s -- (ba)?sh -c 'frobnicate '\\''a b'\\'''$/);
});
