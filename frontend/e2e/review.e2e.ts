import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { McpClient } from './support/mcp';
import { accessibleInBothThemes, expect, fits, mod, resize, test, type Console } from './support/test';

const session = `export class Session {
  async token(): Promise<string> {
    if (this.expiresAt > Date.now()) {
      return this.value;
    }
    this.value = await this.refresh();
    return this.value;
  }

${Array.from({ length: 30 }, (_, i) => `  step${i}() { return ${i}; }`).join('\n')}

  private async refresh() {
    const res = await post("/token");
    return res.json();
  }
}
`;
const changed = session
  .replace('if (this.expiresAt > Date.now())', 'if (this.isFresh())')
  .replace('"/token"', 'this.opts.url');

interface Read {
  status: string;
  operation_id: string;
  verdict?: string;
  human_input?: string;
  comments?: { file: string; line: number; end_line?: number; side: string; text: string; severity?: string; suggestion?: string }[];
  focus?: { area: string; verdict: string; note?: string }[];
  fields?: Record<string, string>;
}

const folders: string[] = [];
// Not before the pages are closed: one may be reading the change once more.
test.afterAll(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A repository in which session.ts is changed and notes.md is new. */
async function repository(run: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'deskbell-review-'));
  folders.push(folder);
  const git = (...args: string[]): void => void execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder });
  git('init', '-q');
  await writeFile(path.join(folder, 'session.ts'), session);
  git('add', '-A');
  git('commit', '-qm', 'before');
  await writeFile(path.join(folder, 'session.ts'), changed);
  await writeFile(path.join(folder, 'notes.md'), '# Notes\n');
  await run(folder);
}

const lines = (app: Console) => app.page.getByRole('group', { name: 'Lines of the change' });
const focus = (app: Console, area: string) => app.page.getByRole('group', { name: area, exact: true });

test('a review asked for over MCP is read from its repository, commented on by keyboard alone, and comes back line by line', async ({ app, bot }) => {
  const mcp = await McpClient.connect(bot);
  await repository(async (folder) => {
    const asked = await mcp.human<Read>({
      action: 'invoke', wait_seconds: 0, action_type: 'review', description: 'Refresh tokens under a lock',
      details: { git: { folder, worktree: true }, focus_areas: ['No double refresh', 'Clock skew'], tests_passed: true },
    });
    expect(asked.status).toBe('pending');
    await resize(app.page, 1440, 900);
    await app.open();
    await app.openOperation(asked.operation_id);
    await expect(app.page.getByRole('navigation', { name: 'Files' })).toContainText('notes.md');
    await expect(lines(app)).toContainText('this.opts.url');

    // What nobody changed unfolds from the repository's own text.
    await expect(lines(app)).not.toContainText('step15()');
    await app.button(/^Show \d+ unchanged lines$/).first().click();
    await expect(lines(app)).toContainText('step15()');

    await lines(app).focus();
    await app.press('n', 'n');
    await expect(app.page.getByText(/session\.ts, line 3, added/)).toBeAttached();
    await app.press('Shift+ArrowDown', 'c');
    const words = app.page.getByRole('textbox', { name: 'What you want to say' });
    await expect(words).toBeFocused();
    await app.page.keyboard.type('Who sets this?');
    await app.press('Control+Enter');
    await expect(lines(app)).toBeFocused();
    await app.press('n', 'g');
    const suggestion = app.page.getByRole('textbox', { name: 'Suggested replacement' });
    await expect(suggestion).toHaveValue('    const res = await post(this.opts.url);');
    await suggestion.fill('    const res = await post(this.opts.url, this.lock);');
    await app.press('Escape');
    await expect(lines(app)).toBeFocused();
    await app.press('v');
    await expect(app.page.getByText('2 files, 1 read')).toBeVisible();

    // What was said stands there after a reload.
    await app.page.reload();
    await app.armed();
    await expect(app.page.getByText('2 files, 1 read')).toBeVisible();
    await expect(app.page.getByRole('region', { name: 'Comments' })).toContainText('Who sets this?');

    await focus(app, 'No double refresh').getByRole('button', { name: 'Good' }).press('Enter');
    await focus(app, 'Clock skew').getByRole('button', { name: 'Problem' }).press('Enter');
    await app.page.getByRole('textbox', { name: 'Note on Clock skew' }).fill('30 s is too long');
    await expect(app.button(/^Request changes/)).toHaveClass(/ink/);
    await app.page.getByRole('textbox', { name: 'Summary of your review' }).fill('Good direction.');
    await app.press(`${mod}+Enter`);
    await expect(app.page.locator('.facts')).toContainText('changes requested');

    const got = await mcp.human<Read>({ action: 'check_result', operation_id: asked.operation_id });
    expect(got).toMatchObject({
      status: 'completed', verdict: 'request_changes', human_input: 'Good direction.',
      comments: [
        { file: 'session.ts', line: 3, end_line: 4, side: 'new', text: 'Who sets this?' },
        { file: 'session.ts', side: 'new', suggestion: '    const res = await post(this.opts.url, this.lock);' },
      ],
      focus: [{ area: 'No double refresh', verdict: 'good' }, { area: 'Clock skew', verdict: 'problem', note: '30 s is too long' }],
    });
    expect(got.fields).toBeUndefined();
    // A script that puts the suggestion in gets the text the operator meant.
    const text = changed.split('\n');
    for (const { line, end_line: last = line, suggestion: put } of (got.comments ?? []).toReversed()) if (put !== undefined) text.splice(line - 1, last - line + 1, put);
    expect(text.join('\n')).toBe(changed.replace('post(this.opts.url)', 'post(this.opts.url, this.lock)'));
  });
});

test('what asks for changes has to say which; approval needs nothing', async ({ app, bot }) => {
  const op = await bot.ring({ action_type: 'review', description: 'Look at it', details: { file_path: 'a.ts', before: session, after: changed } });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button(/^Request changes/).click();
  await expect(app.page.getByRole('alert')).toContainText('Say what should change');
  await expect(app.page.getByRole('textbox', { name: 'Summary of your review' })).toBeFocused();
  await app.button(/^Approve/).click();
  expect((await bot.until(op.operation_id, ({ state }) => state === 'completed')).result).toMatchObject({ verdict: 'approve' });
});

test('a change is read in every width, in both themes, and what is no diff is shown all the same', async ({ app, bot }) => {
  const combined = 'diff --cc x.txt\nindex 1,2..3\n--- a/x.txt\n+++ b/x.txt\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++merged\n';
  const many = `diff --git a/big.txt b/big.txt\n--- a/big.txt\n+++ b/big.txt\n@@ -0,0 +1,13000 @@\n${'+line of many\n'.repeat(13000)}`;
  const op = await bot.ring({
    action_type: 'review', description: 'Several forms',
    details: { diff: `${combined}diff --git a/i.png b/i.png\nindex 1..2 100644\nBinary files a/i.png and b/i.png differ\n${many}`, files: [{ path: 'src/session.ts', before: session, after: changed }], focus_areas: ['Locks'] },
  });
  await resize(app.page, 1440, 900);
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(lines(app)).toContainText('++merged');
  await expect(lines(app)).toContainText('shown as text');
  await expect(lines(app)).toContainText('Binary file');
  await expect(lines(app)).not.toContainText('line of many');
  await app.button('Load').click();
  await expect(lines(app)).toContainText('line of many');
  await app.page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name: /session\.ts/ }).click();
  await expect(lines(app).locator('.mark').first()).toBeVisible();
  await expect(lines(app).locator('.k').first()).toBeVisible();
  await accessibleInBothThemes(app.page);
  for (const width of [1120, 800, 400]) {
    await resize(app.page, width, 900);
    await expect(app.button('Side by side')).toHaveCount(0);
    await fits(app.page, '.decide button');
  }
  await accessibleInBothThemes(app.page);
});

test('what flies by is plain, and is coloured and takes a press as soon as it stands', async ({ app, bot }) => {
  const file = (n: number): string => `diff --git a/f${n}.ts b/f${n}.ts\n--- a/f${n}.ts\n+++ b/f${n}.ts\n@@ -1,200 +1,200 @@\n${Array.from({ length: 200 }, (_, i) => `-const v${i} = old(${i});\n+const v${i} = read(${i});`).join('\n')}\n`;
  const op = await bot.ring({ action_type: 'review', description: 'Many lines', details: { diff: Array.from({ length: 10 }, (_, n) => file(n)).join('') } });
  await resize(app.page, 1440, 900);
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(lines(app).locator('.mark').first()).toBeVisible();
  const seen = await app.page.evaluate(async () => {
    const rows = document.querySelector('.rows');
    const scroll = rows?.closest('.scroll');
    // Rows are measured after a frame's scripts, and not seen before.
    const frame = (): Promise<unknown> => new Promise((next) => requestAnimationFrame(() => setTimeout(next)));
    if (!rows || !scroll) throw new Error('nothing scrolls');
    const { left, top, bottom } = scroll.getBoundingClientRect();
    const found = { plain: false, pressed: false };
    for (let n = 0; n < 20; n++) {
      scroll.scrollTop += 2000;
      await frame();
      found.plain ||= !rows.querySelector('.mark') && (rows.textContent ?? '').includes('read(');
      found.pressed ||= !!document.elementFromPoint(left + scroll.clientWidth / 2, (top + bottom) / 2)?.closest('.row');
    }
    return found;
  });
  expect(seen).toEqual({ plain: true, pressed: true });
  await expect(lines(app).locator('.mark').first()).toBeVisible();
  await expect(lines(app).locator('.k').first()).toBeVisible();
});

test('a comment keeps the keyboard and its place in the text while lines come before it', async ({ app, bot }) => {
  await repository(async (folder) => {
    const op = await bot.ring({ action_type: 'review', description: 'Refresh tokens', details: { git: { folder, worktree: true } } });
    await resize(app.page, 1440, 900);
    await app.open();
    await app.openOperation(op.operation_id);
    await app.button('Choose line 43').first().click();
    await app.press('c');
    const words = app.page.getByRole('textbox', { name: 'What you want to say' });
    await words.fill('ab');
    await app.press('ArrowLeft');
    // Another way than the pointer, which would take the keyboard.
    await app.button(/^Show \d+ unchanged lines$/).first().evaluate((button: HTMLElement) => button.click());
    await expect(lines(app)).toContainText('step15()');
    await expect(words).toBeFocused();
    await app.page.keyboard.type('-');
    await expect(words).toHaveValue('a-b');
  });
});
