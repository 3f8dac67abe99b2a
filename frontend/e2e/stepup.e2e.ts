import type { CDPSession, Page } from '@playwright/test';
import { accessible, accessibleInBothThemes, choose, Console, expect, fits, test as base } from './support/test';
import type { Server } from './support/server';

/** An authenticator of Chromium's own, which answers as a security key does that is touched at once. */
async function authenticator(page: Page): Promise<{ cdp: CDPSession; id: string }> {
  const cdp = await page.context().newCDPSession(page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: { protocol: 'ctap2', transport: 'usb', hasResidentKey: false, hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
  });
  return { cdp, id: authenticatorId };
}

const atLocalhost = (server: Server): string => server.url.replace('127.0.0.1', 'localhost');

/** A console at localhost, where passkeys work. That a call is answered with proof_needed stands in the browser's log. */
const test = base.extend<{ here: Console }>({
  here: async ({ page, server }, use) => {
    const { code } = await server.invite();
    await page.addInitScript(() => localStorage.setItem('deskbell.welcome', 'done'));
    await page.goto(`${atLocalhost(server)}/#code=${code}`);
    await expect(page.getByRole('navigation')).toBeVisible();
    const here = new Console(page, server);
    await use(here);
    expect(here.errors.filter((error) => !error.includes('403'))).toEqual([]);
  },
});

/** Registers a passkey in the settings. */
async function register(here: Console, page: Page): Promise<void> {
  await here.go('settings');
  await page.getByRole('textbox', { name: 'Name of the passkey' }).fill('YubiKey 5C');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('button', { name: 'Remove YubiKey 5C' })).toBeVisible();
}

test('an answer of critical risk needs the passkey, and keeps what it signed', async ({ here, page, bot, server }) => {
  const { cdp, id } = await authenticator(page);
  await register(here, page);
  await choose(page.getByLabel('Approving requests, calls and plans'), 'critical');
  await accessibleInBothThemes(page);
  const panel = page.getByRole('dialog', { name: 'Prove that you are here' });
  await expect(panel).toBeVisible(); // what needs proof is changed with proof only
  await expect(panel.getByText('Change settings', { exact: true })).toBeVisible();
  await panel.getByRole('button', { name: 'Change settings with Passkey' }).click();
  await expect(panel).toBeHidden();
  await expect(page.getByLabel('Approving requests, calls and plans')).toHaveText(/Critical risk/);

  const op = await bot.ring({ description: 'Drop invoices_2019?', details: { action: 'DROP TABLE invoices_2019', risk_level: 'critical' } });
  await here.openOperation(op.operation_id);
  await page.getByRole('button', { name: /^Approve/ }).first().click();
  await expect(panel.getByText(op.operation_id)).toBeVisible();
  await accessibleInBothThemes(page);
  await fits(page);
  await page.keyboard.press('Escape'); // nothing is answered
  await expect(panel).toBeHidden();
  expect((await bot.operation(op.operation_id)).state).not.toBe('completed');

  await here.armed();
  await page.getByRole('button', { name: /^Approve/ }).first().click();
  await panel.getByRole('button', { name: 'Approve with Passkey' }).press('Enter');
  await bot.until(op.operation_id, (is) => is.state === 'completed');
  const { receipts } = await server.operator.call<{ receipts: { signoffs: { key_class: string }[] }[] }>('GET', `/api/human/operations/${op.operation_id}/receipts`);
  expect(receipts[0]?.signoffs).toMatchObject([{ key_class: 'A' }]);
  const report = await server.operator.call<{ authentic: boolean; signers: { means: string; key_class: string }[] }>('POST', '/api/receipts/verify', { receipt: receipts[0] });
  expect(report).toMatchObject({ authentic: true, signers: [{ means: 'passkey', key_class: 'A' }] });

  // Another session, which a code made, has no authenticator and answers nothing above low.
  const other = await bot.ring({ description: 'Deploy?', details: { action: 'make deploy', risk_level: 'high' } });
  await expect(server.operator.call('POST', '/api/human/complete', { operation_id: other.operation_id, decision: 'approve', digest: other.digest })).rejects.toThrow(/proof_needed/);

  // An authenticator without this credential is of no use.
  await cdp.send('WebAuthn.clearCredentials', { authenticatorId: id });
  await here.go('settings');
  await page.getByRole('button', { name: 'Remove YubiKey 5C' }).click();
  await panel.getByRole('button', { name: 'Change proof of presence with Passkey' }).click();
  await expect(panel.getByRole('alert')).toContainText('was not used');
  await panel.getByRole('button', { name: 'Cancel' }).click();
  await expect(page.getByRole('button', { name: 'Remove YubiKey 5C' })).toBeVisible();
});

test('by keyboard alone, the keyboard stays where it was', async ({ here, page, bot }) => {
  const { cdp, id } = await authenticator(page);
  await here.go('settings');
  const panel = page.getByRole('dialog', { name: 'Prove that you are here' });
  const means = panel.getByRole('radio', { name: /^Passkey/ });
  await page.getByRole('textbox', { name: 'Name of the passkey' }).focus();
  await page.keyboard.type('YubiKey 5C');
  await here.press('Tab', 'Enter');
  await expect(page.getByRole('button', { name: 'Remove YubiKey 5C' })).toBeVisible();

  const keys = page.getByRole('switch', { name: 'Creating keys for agents' });
  await keys.focus();
  await here.press('Space');
  await expect(means).toBeFocused();
  await here.press('Escape');
  await expect(panel).toBeHidden();
  await expect(keys).toBeFocused();
  await expect(keys).not.toBeChecked();
  await here.press('Space');
  await expect(means).toBeFocused();
  await here.press('Tab', 'Tab', 'Enter');
  await expect(keys).toBeChecked();
  await expect(keys).toBeFocused();

  const op = await bot.ring({ description: 'Drop invoices_2019?', details: { action: 'DROP TABLE invoices_2019', risk_level: 'critical' } });
  await here.openOperation(op.operation_id);
  const approve = page.getByRole('button', { name: /^Approve/ }).first();
  await approve.focus();
  await here.press('Enter');
  await expect(panel.getByText('Drop invoices_2019?')).toBeVisible(); // what it is about, in its words
  await expect(panel.getByText('The PIN')).toHaveCount(0);
  await here.press('Escape');
  await expect(approve).toBeFocused();
  await cdp.send('WebAuthn.clearCredentials', { authenticatorId: id });
  await here.armed();
  await here.press('Enter');
  await expect(means).toBeFocused();
  await here.press('Tab', 'Tab', 'Enter');
  await expect(panel.getByRole('alert')).toContainText('was not used');
  await expect(panel.getByRole('button', { name: 'Approve with Passkey' })).toBeFocused();
});

test('the first run offers it, for critical requests', async ({ here, page }) => {
  await authenticator(page);
  await here.go('welcome');
  for (let i = 0; i < 3; i++) await page.getByRole('button', { name: 'Continue' }).click();
  await expect(page.getByRole('heading', { name: 'Protect critical requests' })).toBeFocused();
  const from = page.getByLabel('Approving requests, calls and plans');
  await expect(from).toHaveText(/Never/);
  await accessibleInBothThemes(page);
  await fits(page);
  await page.getByRole('textbox', { name: 'Name of the passkey' }).fill('YubiKey 5C');
  await page.getByRole('button', { name: 'Add passkey' }).click();
  await expect(page.getByRole('button', { name: 'Remove YubiKey 5C' })).toBeVisible();
  await expect(from).toHaveText(/Critical risk/);
});

for (const [language, words] of Object.entries({
  en: { part: 'Proof of presence', password: 'System password', touch: "Touch ID or the Mac's password", ask: 'Your operating system checks that it is you.', why: 'Windows Hello is not set up for this user' },
  'zh-CN': { part: '在场证明', password: '系统密码', touch: '触控 ID 或 Mac 的密码', ask: '由操作系统确认是你本人。', why: '此用户未设置 Windows Hello' },
})) {
  test(`the system's check has the name that it has there, and says why it cannot ask (${language})`, async ({ app, page, bot }) => {
    await bot.ring({ description: 'Deploy?' }); // so there is no first run
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    const why = { text: 'Windows Hello is not set up for this user', code: 'windows_hello_is_not_set_up_for_this_user' };
    const part = page.getByRole('region', { name: words.part, exact: true });
    for (const [name, is] of [
      [words.password, { system_available: true, system_check: 'password', system_why: undefined }],
      ['Windows Hello', { system_available: false, system_check: 'hello', system_why: why }],
      [words.touch, { system_available: true, system_check: 'touch_id', system_why: undefined }],
    ] as const) {
      await page.route('**/api/stepup', async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, json: { ...((await response.json()) as object), ...is } });
      });
      await app.open('settings');
      await expect(part.getByRole('switch', { name })).toBeEnabled({ enabled: is.system_available });
      await expect(part).toContainText(is.system_why ? words.why : words.ask);
      await expect(part).not.toContainText('docs/');
      await accessible(page);
      await fits(page);
      await page.unrouteAll();
    }
  });
}

test('at another address the console says where passkeys work', async ({ app, page }) => {
  await app.open('settings');
  await expect(page.getByText('Passkeys need the name localhost')).toBeVisible();
  const [other] = await Promise.all([page.context().waitForEvent('page'), app.button('Open there').click()]);
  await expect(other.getByRole('navigation').or(other.getByText('Step 1 of'))).toBeVisible();
  expect(new URL(other.url()).hostname).toBe('localhost');
});
