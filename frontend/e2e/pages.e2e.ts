import { choose, Console, expect, test } from './support/test';
import { Agent } from './support/server';

test.describe('first run', () => {
  test('opens by itself where nothing ever rang, and its ring can be answered', async ({ app, page, server }) => {
    test.setTimeout(90_000);
    await app.open();
    await expect(page.getByRole('heading', { name: 'Language and theme' })).toBeFocused();
    await app.button('Dark').click();
    await expect.poll(() => page.evaluate(() => document.documentElement.style.colorScheme)).toBe('dark');
    await app.button('Continue').click();
    await expect(page.getByRole('heading', { name: 'How requests reach you' })).toBeFocused();
    await expect(page.getByText('Notifications').last()).toBeVisible();
    await app.press('Enter');
    await expect(page.getByRole('heading', { name: 'Connect your agents' })).toBeFocused();
    await app.press('Enter');
    await expect(page.getByRole('heading', { name: 'Protect critical requests' })).toBeFocused();
    await expect(page.getByText('It is typed there only.')).toBeVisible();
    await app.press('Enter');
    await expect(page.getByText('Step 5 of 5')).toBeVisible();
    await app.button('Send test request').click();
    await expect(page.getByText('sample-agent sent a request.')).toBeVisible({ timeout: 20_000 });
    await app.button('Open request').click();
    await expect(page.locator('#operation-title')).toContainText('Which greeting shall I use?');
    await app.armed();
    await app.press('2', 'Control+Enter');
    const second = page.getByRole('link', { name: /May I print the greeting/ });
    await expect(second).toBeVisible({ timeout: 20_000 });
    await second.click();
    await expect(page.getByText("echo 'Hi there'")).toBeVisible();
    await app.armed();
    await app.press('a');
    await expect(page.getByText('Approved by you').first()).toBeVisible();
    // It does not come back, here or in the next page.
    await page.reload();
    await expect(page.getByRole('navigation')).toBeVisible();
    const theme = await server.operator.call<{ settings: { key: string; value: unknown; source: string }[] }>('GET', '/api/settings');
    expect(theme.settings.find((s) => s.key === 'ui.theme')).toMatchObject({ value: 'dark', source: 'file' });
  });

  test('can be skipped, and leaves an empty inbox that says what to do', async ({ app, page }) => {
    await app.open();
    await app.button('Skip setup').click();
    await expect(page.getByRole('heading', { name: 'No new requests' })).toBeVisible();
    await page.reload();
    await expect(page.getByRole('heading', { name: 'No new requests' })).toBeVisible();
    await app.button('Connect an agent').click();
    await expect(page.getByRole('heading', { name: 'Agents', exact: true })).toBeVisible();
  });

  test('does not stand in the way where something rang before', async ({ app, bot, page }) => {
    await bot.ring({ description: 'Hello' });
    await app.open();
    await expect(page.getByRole('heading', { name: 'Inbox' })).toBeVisible();
  });
});

test.describe('agents', () => {
  test('a key is shown once, works, and is gone after a reload', async ({ app, page, server }) => {
    await app.open('agents/keys');
    await page.getByRole('textbox', { name: 'Agent name' }).fill('release-bot');
    await app.button('Create key').click();
    const key = (await page.getByText(/^dbk_\w{20,}$/).textContent()) ?? '';
    const op = await new Agent(server, key).ring({ description: 'Hello' });
    expect(op.agent_id).toBe('release-bot');
    await expect(page.locator('[data-agent="release-bot"]')).toContainText('1 open');
    await page.reload();
    await expect(page.locator('[data-agent="release-bot"]')).toBeVisible();
    await expect(page.getByText(/dbk_\w{20,}/)).toHaveCount(0);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain('dbk_');
  });

  test('the key can be copied', async ({ app, page, context }) => {
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await app.open('agents/keys');
    await page.getByRole('textbox', { name: 'Agent name' }).fill('release-bot');
    await app.press('Enter');
    const box = page.locator('.fresh');
    await box.getByRole('button', { name: 'Copy', exact: true }).click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(await box.locator('code').first().textContent());
    await app.button('Done').click();
    await expect(box).toBeHidden();
  });

  test('revoking asks first, and locks the agent out', async ({ app, bot, page }) => {
    await bot.ring({ description: 'Hello' });
    await app.open('agents/keys');
    await app.button('Revoke the keys of release-bot').click();
    const dialog = page.getByRole('dialog', { name: 'Revoke the keys of release-bot?' });
    await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeFocused();
    await expect(dialog).toContainText('1 of its requests is open');
    await app.press('Enter');
    await expect(dialog).toBeHidden();
    expect((await bot.ring({ description: 'Still here' })).agent_id).toBe('release-bot');
    await app.button('Revoke the keys of release-bot').click();
    await dialog.getByRole('button', { name: 'Revoke', exact: true }).click();
    await expect(page.locator('[data-agent="release-bot"]')).toContainText('Revoked');
    await expect(bot.ring({ description: 'Locked out' })).rejects.toThrow('401');
  });

  test('a name that cannot be is said before it is sent', async ({ app, page }) => {
    await app.open('agents/keys');
    await page.getByRole('textbox', { name: 'Agent name' }).fill('not a name');
    await expect(app.button('Create key')).toBeDisabled();
    await expect(page.getByRole('textbox', { name: 'Agent name' })).toHaveAttribute('aria-invalid', 'true');
  });

  test('lines for a program of one\'s own name this server', async ({ app, page, server }) => {
    await app.open('agents');
    await app.button(/^Another client/).click();
    await app.button('LangChain').click();
    await expect(page.locator('pre').first()).toContainText(`${server.url}/mcp`);
    await app.button('curl').click();
    await expect(page.locator('pre').first()).toContainText(`${server.url}/api/human/invoke`);
  });
});

test.describe('settings', () => {
  test('a value is changed, kept in the file, and said to need a restart', async ({ app, page, server }) => {
    await app.open('settings');
    const row = page.locator('[data-setting="human.default_timeout"]');
    await expect(row).toContainText('Default');
    await row.getByRole('spinbutton').fill('900');
    await app.press('Enter');
    await expect(row).toContainText('Settings file');
    await expect(page.getByText('Restart Deskbell to apply the change')).toBeVisible();
    const { settings } = await server.operator.call<{ settings: { key: string; value: unknown }[] }>('GET', '/api/settings');
    expect(settings.find((s) => s.key === 'human.default_timeout')?.value).toBe(900);
  });

  test('every one has a name and says in Chinese, too, what it does; rules stand on lines of their own', async ({ app, page, server }) => {
    await app.open('settings');
    await app.button('简体中文').click();
    await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
    const rows = page.locator('[data-setting]');
    await expect(rows.first()).toBeVisible();
    const mute = await rows.evaluateAll((all) => all.filter((row) => !/\p{Script=Han}/u.test(row.querySelector('.words .m')?.textContent ?? '')).map((row) => row.getAttribute('data-setting')));
    expect(mute).toEqual([]);
    const nameless = await rows.evaluateAll((all) => all.filter((row) => !/\p{Script=Han}/u.test(row.querySelector('label')?.textContent ?? '')).map((row) => row.getAttribute('data-setting')));
    expect(nameless).toEqual([]);
    const rules = page.locator('[data-setting="summarizers.use"] textarea');
    await rules.fill('kind:browser = browser joined\n* = answer');
    await rules.blur();
    await expect(page.locator('[data-setting="summarizers.use"]')).toContainText('已保存');
    const { settings } = await server.operator.call<{ settings: { key: string; value: unknown }[] }>('GET', '/api/settings');
    expect(settings.find((setting) => setting.key === 'summarizers.use')?.value).toEqual(['kind:browser = browser joined', '* = answer']);
    await rules.fill('kind:nothing = browser');
    await rules.blur();
    await expect(page.locator('[data-setting="summarizers.use"]').getByRole('alert')).toBeVisible();
    app.errors.length = 0; // a refused call is logged by the browser
  });

  test('a value that is not allowed is refused with the bounds, and nothing changes', async ({ app, page, server }) => {
    await app.open('settings');
    const row = page.locator('[data-setting="human.max_pending_requests"]');
    await row.getByRole('spinbutton').fill('0');
    await app.press('Enter');
    await expect(row.getByRole('alert')).toContainText('from 1 to 100000');
    const { settings } = await server.operator.call<{ settings: { key: string; value: unknown }[] }>('GET', '/api/settings');
    expect(settings.find((s) => s.key === 'human.max_pending_requests')?.value).toBe(10);
    app.errors.length = 0; // a refused call is logged by the browser
  });

  test('what a flag sets is shown with the flag, and cannot be changed here', async ({ app, page }) => {
    await app.open('settings');
    const row = page.locator('[data-setting="operator.name"]');
    await expect(row).toContainText('Command-line option: --operator');
    await expect(row.getByRole('textbox')).toBeDisabled();
  });

  test('the doctor says what works, and what to do about the rest', async ({ app, page }) => {
    await app.open('settings');
    const section = page.getByRole('region', { name: 'System check' });
    await expect(section.getByRole('listitem').filter({ hasText: 'Database' })).toContainText('Ready');
    await app.button('Check again').click();
    await expect(section.getByRole('listitem').filter({ hasText: 'Server' })).toContainText('Ready');
  });

  test('the language changes at once, everywhere, and back', async ({ app, bot, page }) => {
    await bot.ring({ description: 'Deploy 2.14?', details: { action: 'make deploy', risk_level: 'high' } });
    await app.open('settings');
    await app.button('简体中文').click();
    await expect(page.getByRole('heading', { name: '设置', exact: true })).toBeVisible();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('zh-CN');
    await page.getByRole('link', { name: '收件箱' }).click();
    await expect(page.locator('[data-id]')).toContainText('Deploy 2.14?'); // what an agent wrote stays in its language
    await expect(page.locator('[data-id]')).toContainText('高');
    await page.reload();
    await page.getByRole('link', { name: '设置' }).click();
    await app.button('English').click();
    await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible();
  });

  test('the theme changes at once and stays', async ({ app, bot, page }) => {
    await bot.ring({ description: 'Hello' });
    await app.open('settings');
    const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const light = await ground();
    await app.button('Dark').click();
    await expect.poll(ground).not.toBe(light);
    await page.reload();
    await expect.poll(ground).not.toBe(light);
  });
});

test.describe('history', () => {
  async function fill(app: Console, bot: Agent): Promise<string> {
    const yes = await bot.ring({ description: 'Roll out api 2.13.4', details: { action: 'kubectl apply', risk_level: 'high', note: 'mentions walrus' } });
    const no = await bot.ring({ description: 'Turn on the price engine', details: { action: 'flagctl set', risk_level: 'low' } });
    const asked = await (await app.server.agent('doc-writer')).ring({ action_type: 'feedback', description: 'Which name?' });
    const me = app.server.operator;
    await me.call('POST', '/api/human/complete', { operation_id: yes.operation_id, digest: yes.digest, decision: 'approve', human_input: 'The rollback plan is good' });
    await me.call('POST', '/api/human/complete', { operation_id: no.operation_id, digest: no.digest, decision: 'deny', human_input: 'No rollback named' });
    await me.call('POST', '/api/human/complete', { operation_id: asked.operation_id, human_input: 'Deskbell' });
    await bot.cancel((await bot.ring({ description: 'Never mind' })).operation_id, 'changed my mind');
    return yes.operation_id;
  }
  const rows = (app: Console) => app.page.locator('a.hit');

  test('lists what has ended', async ({ app, bot }) => {
    await fill(app, bot);
    await bot.ring({ description: 'Still open' });
    await app.open('history');
    await expect(rows(app)).toHaveCount(4);
    await expect(rows(app).filter({ hasText: 'Turn on the price engine' })).toContainText('denied');
    await expect(rows(app).filter({ hasText: 'Never mind' })).toContainText('canceled');
  });

  test('is searched by any word, and marks it where it is seen', async ({ app, bot, page }) => {
    await fill(app, bot);
    await app.open('history');
    const field = page.getByRole('searchbox');
    await field.fill('rollback');
    await expect(rows(app)).toHaveCount(2);
    await expect(page.locator('mark')).toHaveText(['rollback', 'rollback']);
    await field.fill('walrus'); // only in the details
    await expect(rows(app)).toHaveCount(1);
    await field.fill('unheard-of');
    await expect(page.getByText('No matches.')).toBeVisible();
    await app.button('Clear filters').click();
    await expect(rows(app)).toHaveCount(4);
  });

  test('is filtered by agent, kind and outcome', async ({ app, bot, page }) => {
    await fill(app, bot);
    await app.open('history');
    await choose(page.getByRole('combobox', { name: 'Agent' }), 'doc-writer');
    await expect(rows(app)).toHaveText([/Which name\?/]);
    await choose(page.getByRole('combobox', { name: 'Agent' }), '');
    await choose(page.getByRole('combobox', { name: 'Outcome' }), 'cancelled');
    await expect(rows(app)).toHaveText([/Never mind/]);
    await choose(page.getByRole('combobox', { name: 'Outcome' }), 'closed');
    await choose(page.getByRole('combobox', { name: 'Kind' }), 'approve');
    await expect(rows(app)).toHaveCount(3);
  });

  test('opens one, and comes back to where it was', async ({ app, bot, page }) => {
    const id = await fill(app, bot);
    await app.open('history');
    await rows(app).filter({ hasText: 'Roll out api' }).click();
    await expect(page.locator('#operation-title')).toHaveText('Roll out api 2.13.4');
    await expect(page.getByText('The rollback plan is good').first()).toBeVisible();
    await app.press('Escape');
    await expect(page.locator(`a.hit[href="#/history/${id}"]`)).toBeFocused();
  });

  test('what ends while it is looked at comes to its top', async ({ app, bot }) => {
    await fill(app, bot);
    const op = await bot.ring({ description: 'Just now' });
    await app.open('history');
    await expect(rows(app)).toHaveCount(4);
    await bot.cancel(op.operation_id, 'late');
    await expect(rows(app).first()).toContainText('Just now');
  });

  test('reads on as far as somebody scrolls, and draws only what is seen', async ({ app, bot, page }) => {
    for (let i = 0; i < 120; i++) await bot.cancel((await bot.ring({ description: `Number ${i}` })).operation_id, 'x');
    await app.open('history');
    await expect(rows(app).first()).toContainText('Number 119');
    const list = page.getByRole('region', { name: 'History', exact: true });
    await expect
      .poll(async () => {
        await list.evaluate((element) => (element.scrollTop = element.scrollHeight));
        return rows(app).last().textContent();
      })
      .toContain('Number 0');
    expect(await rows(app).count()).toBeLessThan(60);
  });

  test('says what will be here while nothing is', async ({ app, page }) => {
    await app.open('history');
    await expect(page.getByText('Nothing has ended yet.')).toBeVisible();
    await page.getByRole('button', { name: 'Statistics' }).click();
    await expect(page.getByText('No approvals in this period.')).toBeVisible();
  });
});
