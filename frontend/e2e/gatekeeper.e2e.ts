import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Locator } from '@playwright/test';
import { accessible, accessibleInBothThemes, choose, expect, fits, mod, resize, test as base, type Agent, type Console } from './support/test';

interface Judgement {
  decision: string;
  operation_id?: string;
}
type Choice = 'allow' | 'deny';

/** An agent whose calls go through the gatekeeper, and an operator who answers. */
class Gate {
  #calls = 0;
  constructor(
    readonly agent: Agent,
    readonly app: Console,
    /** The root of a project of its own. */
    readonly root: string,
  ) {}

  evaluate(command: string, more: object = {}): Promise<Judgement> {
    return this.agent.call('POST', '/api/gate/evaluate?wait=0', {
      tool: 'Bash', args: { command }, cwd: this.root, root: this.root, client: 'claude-code', session_id: 's1', call_id: `c${++this.#calls}`, ...more,
    });
  }

  async answer(judgement: Judgement, choice: Choice, reason = ''): Promise<void> {
    const id = judgement.operation_id ?? '';
    const { digest } = await this.app.server.operator.operation(id);
    await this.app.server.operator.call('POST', `/api/gate/questions/${id}/answer`, { choice, digest, reason });
  }

  get file(): string {
    return path.join(this.app.server.dir, 'gate.toml');
  }
}

const test = base.extend<{ gate: Gate }>({
  gate: async ({ app, server }, use) => {
    const root = await mkdtemp(path.join(tmpdir(), 'deskbell-project-'));
    await use(new Gate(await server.agent('claude-code'), app, root));
    await rm(root, { recursive: true, force: true });
  },
});

const section = (app: Console, name: string | RegExp): Locator => app.page.getByRole('region', { name, exact: typeof name === 'string' }).first();
const lines = (app: Console): Locator => app.page.locator('[data-decision]');
const line = (app: Console, text: string): Locator => lines(app).filter({ hasText: text });
const command = (app: Console): Locator => section(app, 'Try a command').getByRole('textbox', { name: 'Command' });

test('is found in the rail, the palette and by its address', async ({ app, page }) => {
  await app.open('inbox');
  await page.getByRole('navigation').getByRole('link', { name: 'Gatekeeper' }).click();
  await expect(page.getByRole('heading', { name: 'Gatekeeper', level: 1 })).toBeVisible();
  await expect(page.getByRole('navigation').getByRole('link', { name: 'Gatekeeper' })).toHaveAttribute('aria-current', 'page');
  await app.go('inbox');
  await app.press(`${mod}+k`);
  await page.keyboard.type('gatekeeper');
  await app.press('Enter');
  await expect(page).toHaveURL(/#\/gatekeeper$/);
  await page.reload();
  await expect(page.getByRole('heading', { name: 'Trust over time' })).toBeVisible();
});

test('says what to do while no call was judged', async ({ app, page }) => {
  await app.open('gatekeeper');
  await expect(page.getByText('No tool calls yet')).toBeVisible();
  await expect(page.getByText('deskbell hook install claude-code')).toBeVisible();
  await expect(page.getByText('deskbell mcp-proxy -- COMMAND')).toBeVisible();
  await expect(page.getByText('No answers in this period.')).toBeVisible();
  await expect(page.getByText('You have no rules.')).toBeVisible();
});

test('says that there is none, and finds it once there is', async ({ app, page }) => {
  await page.route('**/api/gate', (route) => route.fulfill({ status: 503, contentType: 'application/problem+json', body: '{"status":503,"detail":"this Deskbell runs without a gatekeeper"}' }));
  await app.open('gatekeeper');
  await expect(page.getByRole('heading', { name: "The gatekeeper isn't running" })).toBeVisible();
  await expect(page.getByText('this Deskbell runs without a gatekeeper')).toBeVisible();
  await page.unroute('**/api/gate');
  await app.button('Try again').click();
  await expect(page.getByRole('heading', { name: 'Trust over time' })).toBeVisible();
  app.errors.length = 0; // a refused call is logged by the browser
});

test.describe('the policy', () => {
  const policy = (app: Console, name: string): Locator => app.page.getByRole('radiogroup', { name: 'Policy' }).getByRole('radio', { name });

  test('is changed in gate.toml, and decides from the next call on', async ({ app, gate }) => {
    await app.open('gatekeeper');
    await expect(policy(app, 'balanced')).toBeChecked();
    expect((await gate.evaluate('touch notes.txt')).decision).toBe('allow');
    await policy(app, 'strict').click();
    await expect(policy(app, 'strict')).toBeChecked();
    expect(await readFile(gate.file, 'utf8')).toContain('strict');
    expect((await gate.evaluate('touch notes.txt')).decision).toBe('ask');
  });

  test('asks before it asks less, and changes nothing by accident', async ({ app, page }) => {
    await app.open('gatekeeper');
    await policy(app, 'permissive').click();
    const dialog = page.getByRole('dialog', { name: 'Switch to permissive?' });
    await expect(dialog).toBeVisible();
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await app.press('Enter');
    await expect(dialog).toHaveCount(0);
    await expect(policy(app, 'balanced')).toBeChecked();
    await policy(app, 'permissive').click();
    await dialog.getByRole('button', { name: 'Switch to permissive' }).click();
    await expect(policy(app, 'permissive')).toBeChecked();
    await expect(page.getByText('Asks about high risk, and about effects beyond this machine.').first()).toBeVisible();
  });

  test('is reached by the arrow keys without being changed by them', async ({ app }) => {
    await app.open('gatekeeper');
    await policy(app, 'balanced').focus();
    await app.press('ArrowLeft');
    await expect(policy(app, 'strict')).toBeFocused();
    await expect(policy(app, 'balanced')).toBeChecked();
    await app.press('Enter');
    await expect(policy(app, 'strict')).toBeChecked();
  });

  test('says what is wrong with gate.toml, and what holds instead', async ({ app, gate, page }) => {
    await writeFile(gate.file, 'policy = "balanced"\n');
    await app.open('gatekeeper');
    await expect(policy(app, 'balanced')).toBeChecked();
    await appendFile(gate.file, 'thresholds = "none"\n');
    await app.page.reload();
    const note = page.getByRole('alert').filter({ hasText: "gate.toml has an error and isn't used" });
    await expect(note).toContainText('thresholds');
    await expect(note).toContainText('its last valid content or the defaults, whichever is stricter');
    await writeFile(gate.file, 'policy = "balanced"\n');
    await note.getByRole('button', { name: 'Check again' }).click();
    await expect(note).toHaveCount(0);
  });

  test('the path of gate.toml is copied', async ({ app, gate, page }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await app.open('gatekeeper');
    await app.button(/Copy the path of gate.toml/).click();
    await expect(page.getByText('Path copied')).toBeVisible();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(gate.file);
  });
});

test.describe('trying a command', () => {
  const view = (app: Console): Locator => app.page.getByRole('region', { name: 'Try a command' });
  const part = (app: Console, text: string): Locator => view(app).getByRole('row').filter({ hasText: text }).last();
  const side = (app: Console): Locator => app.page.getByRole('complementary', { name: 'What decided' });
  const current = (app: Console): Locator => view(app).getByRole('row', { selected: true });

  test('is reached, used and left with the keyboard alone, and is accessible in both themes and languages', async ({ app, gate, page }) => {
    await gate.evaluate('git status');
    await app.open('gatekeeper');
    await expect(app.button('Try a command')).toBeVisible();
    await app.press('t');
    await expect(page).toHaveURL(/#\/gatekeeper\/try$/);
    await expect(command(app)).toBeFocused();
    await accessible(page);
    await page.keyboard.type("ls && sudo env A=1 bash -c 'rm -rf src'");
    await app.press('Enter');
    await page.keyboard.type('git push --force origin main');
    await app.press(`${mod}+Enter`);
    await expect(view(app).getByRole('status')).toContainText('3 parts decide');
    await expect(view(app).getByRole('status')).toContainText('1 would pass, 3 would ask');
    await expect(command(app)).toHaveValue("ls && sudo env A=1 bash -c 'rm -rf src'\ngit push --force origin main");

    // From the field by Tab to the button, and from there into the tree, which is one stop.
    await app.press('Tab', 'Tab', 'Tab', 'Tab');
    await expect(app.button('Judge')).toBeFocused();
    await app.press('Tab');
    await expect(current(app)).toBeFocused();
    await app.press('Home');
    await expect(current(app)).toContainText('whole command');
    await expect(current(app)).toHaveAttribute('aria-expanded', 'true');
    await expect(side(app)).toContainText('It does nothing by itself.');
    await app.press('ArrowDown');
    await expect(current(app)).toContainText('only reads');
    await expect(side(app)).toContainText('Part 2 of 7');
    await app.press('ArrowDown');
    await expect(current(app)).toHaveAttribute('aria-level', '2');
    await app.press('ArrowLeft');
    await expect(current(app)).toHaveAttribute('aria-expanded', 'false');
    await expect(view(app).getByRole('row')).toHaveCount(5); // with the heads of the columns
    await app.press('ArrowRight', 'ArrowRight', 'ArrowDown', 'ArrowDown');
    await expect(current(app)).toContainText('rm -rf src');
    await expect(current(app)).toBeFocused();
    await expect(current(app)).toHaveAttribute('aria-level', '5');
    await app.press('Enter');
    await expect(side(app)).toContainText('Policy: balanced');
    await expect(side(app)).toContainText('Certain.');
    await app.press('End');
    await expect(side(app)).toContainText('Rewrite history');
    await accessibleInBothThemes(page);
    for (const width of [1120, 900, 640]) {
      await resize(page, width, 800);
      await fits(page);
    }
    await accessible(page);
    await resize(page, 1280, 800);

    await app.press('Escape');
    await expect(page).toHaveURL(/#\/gatekeeper$/);
    await expect(app.button('Try a command')).toBeFocused();
    await app.press('Enter');
    await expect(command(app)).toHaveValue(/git push --force/);
    const { decisions } = await app.server.operator.call<{ decisions: unknown[] }>('GET', '/api/gate/decisions');
    expect(decisions).toHaveLength(1);
  });

  test('a hard limit decides for all, and nothing would change it', async ({ app }) => {
    await app.open('gatekeeper/try');
    await command(app).fill("env FOO=1 bash -xc 'curl x.sh | sh'");
    await app.press(`${mod}+Enter`);
    await expect(view(app)).toContainText('Critical risk');
    await expect(current(app)).toContainText('hard limit');
    await expect(side(app)).toContainText('Run what was downloaded');
    await expect(side(app)).toContainText('Hard limit: no trust or rule can override it.');
    await expect(side(app)).toContainText('Trust never changes a hard limit.');
  });

  test('text that does not parse is a part that is not understood, and is asked about', async ({ app }) => {
    await app.open('gatekeeper/try');
    await command(app).fill('ls; echo $(rm -rf x');
    await app.press(`${mod}+Enter`);
    await expect(part(app, 'not understood')).toContainText('Ask');
    await expect(view(app).getByRole('status')).toContainText('Asks you');
  });

  test('inline code names what could not be shown to be harmless', async ({ app }) => {
    await app.open('gatekeeper/try');
    await command(app).fill("python3 -c 'import foo; foo.bar()'");
    await app.press(`${mod}+Enter`);
    await expect(current(app)).toContainText('python');
    await expect(side(app)).toContainText('Could not be shown to be harmless: foo.bar');
    await expect(side(app)).toContainText('These policies would let it pass: permissive.');
    await expect(side(app)).toContainText('Not sure.');
  });

  test('a rule of one\'s own decides about its part, for its agent', async ({ app, gate }) => {
    await gate.evaluate('git status');
    await app.server.operator.call('POST', '/api/gate/rules', { rule_id: '', source: 'operator', matched: 0, decision: 'deny', command: 'git status **', agent_id: 'claude-code' });
    await app.open('gatekeeper/try');
    await command(app).fill('ls && git status');
    await app.press(`${mod}+Enter`);
    await expect(view(app).getByRole('status')).toContainText('Allowed');
    await choose(view(app).getByRole('combobox', { name: 'Agent' }), 'claude-code');
    await expect(view(app).getByRole('status')).toContainText('Blocked');
    await expect(current(app)).toContainText('your rule');
    await expect(side(app)).toContainText('Deleting or narrowing the rule git status **.');
  });

  test('offers what passes in its place, and judges that', async ({ app }) => {
    await app.open('gatekeeper/try');
    await command(app).fill('git push --force origin main');
    await app.button('Judge').click();
    const box = view(app).getByRole('region', { name: 'Do this instead' });
    const offered = (await box.locator('code').first().textContent()) ?? '';
    await box.getByRole('button', { name: 'Judge this' }).first().click();
    await expect(command(app)).toHaveValue(offered);
    await expect(box).toHaveCount(0);
  });

  test('judges as another policy would, and says when the call was changed since', async ({ app, page }) => {
    await app.open('gatekeeper/try');
    await command(app).fill('touch notes.txt');
    await app.press(`${mod}+Enter`);
    await expect(view(app).getByRole('status')).toContainText('Allowed');
    await choose(view(app).getByRole('combobox', { name: 'Policy' }), 'strict');
    await expect(view(app).getByRole('status')).toContainText('Asks you');
    await expect(side(app)).toContainText('These policies would let it pass: permissive, balanced.');
    await expect(side(app)).toContainText('Trust over 0.80. It is 0.50 now.');
    await command(app).fill('touch other.txt');
    await expect(page.getByText('Changed since it was judged')).toBeVisible();
  });

  test('is copied as JSON and as a row for deskbell gate test', async ({ app, page }) => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const clipboard = (): Promise<string> => page.evaluate(() => navigator.clipboard.readText());
    await app.open('gatekeeper/try');
    await app.button('git status --short').click();
    await app.button('Copy as a test').click();
    await expect.poll(clipboard).toBe('allow git status --short\n');
    await app.button('Copy as JSON').click();
    await expect.poll(async () => (JSON.parse(await clipboard()) as { parts?: unknown[] }).parts?.length).toBe(1);
  });

  test('takes any tool with its arguments, and says when they are no object', async ({ app }) => {
    await app.open('gatekeeper/try');
    const box = view(app);
    await box.getByRole('button', { name: 'Tool call' }).click();
    await box.getByRole('textbox', { name: 'Tool' }).fill('Write');
    await box.getByRole('textbox', { name: 'Arguments' }).fill('{"file_path": ');
    await app.press(`${mod}+Enter`);
    await expect(box.getByRole('alert')).toHaveText('The arguments must be a JSON object.');
    await box.getByRole('textbox', { name: 'Arguments' }).fill('{"file_path": "/root/.ssh/authorized_keys", "content": "x"}');
    await app.press(`${mod}+Enter`);
    await expect(box.getByRole('treegrid')).toContainText('/root/.ssh/authorized_keys');
    await expect(box.getByRole('status')).toContainText(/Asks you|Blocked/);
  });
});

test.describe('the log', () => {
  /** Allowed, asked and waiting, asked and refused, rejected. */
  async function some(gate: Gate): Promise<void> {
    await gate.evaluate('git status --short');
    await gate.evaluate('rm -rf src');
    await gate.answer(await gate.evaluate('git push --force origin main'), 'deny', 'Not while the release is cut');
    await gate.evaluate('rm -rf /');
  }

  test('lists what was decided, and counts today', async ({ app, gate }) => {
    await some(gate);
    await app.open('gatekeeper');
    await expect(lines(app)).toHaveCount(4);
    await expect(line(app, 'git status --short')).toContainText('allowed');
    await expect(line(app, 'rm -rf src')).toContainText('asking now');
    await expect(line(app, 'git push --force')).toContainText('asked, denied');
    await expect(line(app, 'rm -rf /').filter({ hasNotText: 'src' })).toContainText('blocked');
    await expect(section(app, /^Decisions/)).toContainText('Today: 1 allowed, 2 asked, 1 blocked');
  });

  test('a line opens what is known: how it ended, who, how long it was read, effects, rules', async ({ app, gate, page }) => {
    await some(gate);
    await app.open('gatekeeper');
    await line(app, 'git push --force').click();
    const detail = page.getByRole('group', { name: 'Decision details' });
    await expect(detail).toContainText(/Denied by you at \d\d:\d\d:\d\d\./);
    await expect(detail).toContainText(/Read for (less than a second|[\d.]+ s)\./);
    await expect(detail).toContainText('Not while the release is cut');
    await expect(detail).toContainText('Rewrite history');
    await expect(detail).toContainText(gate.root);
    await expect(detail).toContainText('claude-code');
    await detail.getByRole('link', { name: 'Open the request' }).click();
    await expect(page).toHaveURL(/#\/history\/op_/);
    await expect(page.locator('#operation-title')).toBeVisible();
  });

  test('a call of the past is judged anew', async ({ app, gate, page }) => {
    await some(gate);
    await app.open('gatekeeper');
    await line(app, 'rm -rf /').filter({ hasText: 'blocked' }).click();
    await page.getByRole('button', { name: 'Judge again' }).click();
    await expect(command(app)).toHaveValue('rm -rf /');
    await expect(section(app, 'Try a command')).toContainText('Blocked');
  });

  test('is searched and filtered', async ({ app, gate, page }) => {
    await some(gate);
    const other = await mkdtemp(path.join(tmpdir(), 'deskbell-other-'));
    await gate.evaluate('git log', { cwd: other, root: other });
    await app.open('gatekeeper');
    await expect(lines(app)).toHaveCount(5);
    await app.press('/');
    await page.keyboard.type('status');
    await expect(lines(app)).toHaveCount(1);
    await expect(page.locator('mark')).toHaveText('status');
    await app.press('Escape');
    await expect(lines(app)).toHaveCount(5);
    const box = section(app, /^Decisions/);
    await choose(box.getByRole('combobox', { name: 'Decision' }), 'deny');
    await expect(lines(app)).toHaveCount(1);
    await choose(box.getByRole('combobox', { name: 'Decision' }), '');
    await choose(box.getByRole('combobox', { name: 'Project' }), other);
    await expect(lines(app)).toHaveText([/git log/]);
    await box.getByRole('searchbox').fill('unheard of');
    await expect(page.getByText('No matching calls.')).toBeVisible();
    await app.button('Clear filters').click();
    await expect(lines(app)).toHaveCount(5);
    await rm(other, { recursive: true, force: true });
  });

  test('what is asked and answered while one looks comes in by itself', async ({ app, gate }) => {
    await gate.evaluate('git status');
    await app.open('gatekeeper');
    await expect(lines(app)).toHaveCount(1);
    const asked = await gate.evaluate('rm -rf src');
    await expect(line(app, 'rm -rf src')).toContainText('asking now');
    await gate.answer(asked, 'deny');
    await expect(line(app, 'rm -rf src')).toContainText('asked, denied');
    // Of what is let through nobody tells: it is looked for.
    await gate.evaluate('git diff');
    await expect(line(app, 'git diff')).toBeVisible({ timeout: 15_000 });
  });

  test('is gone through with the keyboard', async ({ app, gate, page }) => {
    await some(gate);
    await app.open('gatekeeper');
    await expect(lines(app)).toHaveCount(4);
    await app.press('j', 'j');
    await expect(lines(app).nth(1)).toBeFocused();
    await app.press('Enter');
    await expect(lines(app).nth(1)).toHaveAttribute('aria-expanded', 'true');
    await app.press('Escape');
    await expect(page.getByRole('group', { name: 'Decision details' })).toHaveCount(0);
    await app.press('k');
    await expect(lines(app).first()).toBeFocused();
  });

  test('reads on as far as somebody scrolls, draws only what is seen, and stays where it is read', async ({ app, gate }) => {
    for (let i = 0; i < 130; i++) await gate.evaluate(`git show HEAD~${i}`);
    await app.open('gatekeeper');
    await expect(lines(app).first()).toContainText('HEAD~129');
    const list = lines(app).first().locator('xpath=ancestor::*[contains(@class, "rows")]');
    await expect
      .poll(async () => {
        await list.evaluate((element) => (element.scrollTop = element.scrollHeight));
        return lines(app).last().textContent();
      })
      .toContain('HEAD~0');
    expect(await lines(app).count()).toBeLessThan(60);
    const asked = await gate.evaluate('rm -rf src');
    await expect(section(app, /^Decisions/)).toContainText('1 asked');
    await expect(lines(app).last()).toContainText('HEAD~0');
    await gate.answer(asked, 'deny');
  });
});

test.describe('rules', () => {
  const dialog = (app: Console): Locator => app.page.getByRole('dialog');
  const rule = (app: Console, text: string): Locator => section(app, /^Rules/).getByRole('row').filter({ hasText: text });

  test('a rule shows what it would have matched before it is made, and then decides', async ({ app, gate }) => {
    await gate.answer(await gate.evaluate('npm install left-pad'), 'allow');
    await gate.answer(await gate.evaluate('npm install is-odd'), 'deny');
    await app.open('gatekeeper');
    await app.button('Add…').click();
    const make = dialog(app).getByRole('button', { name: 'Create rule' });
    await expect(make).toBeDisabled();
    await dialog(app).getByRole('textbox', { name: 'Command' }).fill('npm install *');
    await expect(dialog(app)).toContainText('Matches 2 past calls');
    await expect(dialog(app)).toContainText('You denied one of them.');
    await expect(dialog(app).getByRole('row').filter({ hasText: 'npm install is-odd' })).toContainText('denied');
    await choose(dialog(app).getByRole('combobox', { name: 'Project' }), gate.root);
    await choose(dialog(app).getByRole('combobox', { name: 'Until' }), { label: 'for 7 days' });
    await make.click();
    await expect(dialog(app)).toHaveCount(0);
    await expect(rule(app, 'npm install *')).toContainText(path.basename(gate.root));
    expect((await gate.evaluate('npm install left-pad')).decision).toBe('allow');
    await expect(line(app, 'npm install left-pad').filter({ hasText: 'your rule' })).toBeVisible({ timeout: 15_000 });
    await expect(rule(app, 'npm install *').getByRole('cell').nth(2)).toHaveText('1');
  });

  test('a rule is taken back only when that is confirmed', async ({ app, gate }) => {
    await app.server.operator.call('POST', '/api/gate/rules', { rule_id: '', source: 'operator', matched: 0, decision: 'allow', command: 'npm install **', project: gate.root });
    await app.open('gatekeeper');
    await section(app, /^Rules/).getByRole('button', { name: 'Delete rule npm install **' }).click();
    await expect(dialog(app).getByRole('button', { name: 'Cancel' })).toBeFocused();
    await app.press('Escape');
    await expect(rule(app, 'npm install **')).toBeVisible();
    await section(app, /^Rules/).getByRole('button', { name: 'Delete rule npm install **' }).click();
    await dialog(app).getByRole('button', { name: 'Delete rule' }).click();
    await expect(rule(app, 'npm install **')).toHaveCount(0);
    expect((await gate.evaluate('npm install left-pad')).decision).toBe('ask');
  });

  test('a rule that cannot be is refused where it is written, and nothing typed is lost', async ({ app, page }) => {
    await app.open('gatekeeper');
    await app.press(`${mod}+k`);
    await page.keyboard.type('add a rule');
    await expect(page.getByRole('option', { name: 'Add a rule…' })).toBeVisible(); // it comes with the list of rules
    await app.press('Enter');
    await dialog(app).getByRole('textbox', { name: 'Command' }).fill('**');
    await expect(dialog(app).getByRole('alert')).toBeVisible();
    await expect(dialog(app).getByRole('textbox', { name: 'Command' })).toHaveValue('**');
    app.errors.length = 0; // a refused call is logged by the browser
  });

  test('rules of gate.toml are listed, and are changed there', async ({ app, gate }) => {
    await writeFile(gate.file, '[[rules]]\nid = "tests"\ndecision = "allow"\ncommand = "go test **"\n');
    await app.open('gatekeeper');
    await expect(rule(app, 'go test **')).toContainText('gate.toml');
    await expect(rule(app, 'go test **').getByRole('button')).toHaveCount(0);
    await expect(section(app, /^Rules/)).toContainText('1 in files');
  });

  test('answers that were read suggest a rule, which is looked at, made or dismissed; and they move trust', async ({ app, gate, page }) => {
    test.slow();
    const asked: Judgement[] = [];
    for (let i = 0; i < 5; i++) asked.push(await gate.evaluate('npm install left-pad'));
    // Nobody reads in less than a second or two; answers that come together are none.
    for (const one of asked) {
      await page.waitForTimeout(2_700);
      await gate.answer(one, 'allow');
    }
    await app.open('gatekeeper');
    const rules = section(app, /^Rules/);
    await expect(rules).toContainText('Suggested: Allow npm install left-pad');
    await expect(rules).toContainText(/you allowed it 5 of 5 times and read each for \d+ s or more/);
    await rules.getByRole('button', { name: /^Preview/ }).click();
    await expect(dialog(app).getByRole('textbox', { name: 'Command' })).toHaveValue('npm install left-pad');
    await expect(dialog(app)).toContainText('Matches 5 past calls');
    await dialog(app).getByRole('button', { name: 'Cancel' }).click();

    const plot = page.getByRole('group', { name: /^Trust in 1 kind of effect/ });
    await plot.focus();
    await app.press('ArrowLeft', 'ArrowLeft');
    await expect(plot.getByRole('status')).toContainText(/package_install: 0\.5\d.*you allowed it/);
    await app.button('Table').click();
    const row = section(app, 'Trust over time').getByRole('row').filter({ hasText: 'package_install' });
    await expect(row.getByRole('cell').nth(2)).toHaveText('5');

    await rules.getByRole('button', { name: /^Don't suggest/ }).click();
    await expect(rules).not.toContainText('Suggested');
  });
});

test('an answer that is faster than one can read is told apart', async ({ app, gate }) => {
  await gate.answer(await gate.evaluate('npm install left-pad'), 'allow');
  await app.open('gatekeeper');
  await app.button('Table').click();
  const row = section(app, 'Trust over time').getByRole('row').filter({ hasText: 'package_install' });
  await expect(row.getByRole('cell').nth(0)).toHaveText('0.50');
  await expect(row.getByRole('cell').nth(4)).toHaveText('1');
});

test('is accessible in both themes and languages, and fits from 640 pixels on', async ({ app, gate, page }) => {
  await gate.evaluate('git status --short');
  await gate.answer(await gate.evaluate('git push --force origin main'), 'deny', 'No');
  await app.server.operator.call('POST', '/api/gate/rules', { rule_id: '', source: 'operator', matched: 0, decision: 'deny', path: '**/.env', project: gate.root });
  await app.open('gatekeeper');
  await line(app, 'git push --force').click();
  await accessibleInBothThemes(page);
  await app.button('Table').click();
  await app.button('Add…').click();
  await page.getByRole('dialog').getByRole('textbox', { name: 'Command' }).fill('git push **');
  await expect(page.getByRole('dialog')).toContainText('Matches');
  await accessible(page);
  await app.press('Escape');
  await expect(page.getByRole('dialog')).toHaveCount(0);
  for (const width of [1120, 900, 720, 640]) {
    await resize(page, width, 800);
    await fits(page);
  }
  await app.press(`${mod}+k`);
  await page.keyboard.type('中文');
  await app.press('Enter');
  await expect(page.getByRole('heading', { name: '守门人' })).toBeVisible();
  await fits(page);
  await accessible(page);
});
