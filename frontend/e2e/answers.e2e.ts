import { expect, mod, test } from './support/test';

const low = { description: 'Restart the gateway in eu-1', details: { action: 'kubectl rollout restart deploy/gateway', risk_level: 'low' } };
const high = { description: 'Roll out api 2.14.0 to production', details: { action: 'kubectl apply -f prod.yaml', risk_level: 'high', impact: '5 services' } };

test('a ring over REST shows up as a row, and in the title', async ({ app, bot }) => {
  const first = await bot.ring(high);
  await app.open();
  await expect(app.row(first.operation_id)).toContainText('release-bot');
  await expect(app.row(first.operation_id)).toContainText('High');
  await expect(app.page).toHaveTitle('(1) Deskbell');
  const second = await bot.ring(low);
  await expect(app.row(second.operation_id)).toContainText('Restart the gateway in eu-1');
  await expect(app.page).toHaveTitle('(2) Deskbell');
});

test('a ring shows up as a card, and is answered on it', async ({ app, bot }) => {
  await app.open();
  await app.page.goto(`${app.server.url}/?view=popup#code=${(await app.server.invite()).code}`);
  const op = await bot.ring(low);
  const card = app.page.getByRole('article').filter({ hasText: low.description });
  await expect(card).toContainText('release-bot');
  await expect(card).toContainText('kubectl rollout restart deploy/gateway');
  await card.getByRole('button', { name: 'Approve' }).click();
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
});

test('a low risk is approved by a click, and bound to its digest', async ({ app, bot }) => {
  const op = await bot.ring(low);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Approve').click();
  await expect(app.page.getByText('Approved by you')).toBeVisible();
  const answered = await bot.until(op.operation_id, (o) => o.state === 'completed');
  expect(answered.result).toMatchObject({ decision: 'approve', by: { role: 'operator', name: 'mei' }, digest: op.digest });
  await expect(app.page.getByText('Delivered to release-bot')).toBeVisible();
});

test('a dangerous approval takes the chord: no single key and not Enter', async ({ app, bot }) => {
  const op = await bot.ring(high);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press('a', 'Enter', 'y', 'Shift+A', `${mod}+a`);
  await expect(app.button('Approve')).toBeEnabled();
  expect((await bot.operation(op.operation_id)).state).toBe('pending');
  await app.press(`${mod}+Shift+A`);
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
});

test('a low risk is approved by a single key', async ({ app, bot }) => {
  const op = await bot.ring(low);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press('a');
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
});

test('a denial needs a reason', async ({ app, bot }) => {
  const op = await bot.ring(high);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Deny with reason').click();
  await expect(app.page.getByRole('alert')).toContainText('Enter a reason');
  await expect(app.reason).toBeFocused();
  expect((await bot.operation(op.operation_id)).result).toBeUndefined();
  await app.page.keyboard.type('Not before cron is on 2.13');
  await app.button('Deny with reason').click();
  const answered = await bot.until(op.operation_id, (o) => !!o.result);
  expect(answered.result).toMatchObject({ decision: 'deny', human_input: 'Not before cron is on 2.13' });
});

test('for 500 ms after an operation appears a click answers nothing', async ({ app, bot }) => {
  const op = await bot.ring(low);
  await app.open();
  await app.page.clock.install();
  await app.page.clock.pauseAt(Date.now() + 60_000);
  await app.go(`inbox/${op.operation_id}`);
  const approve = app.button('Approve');
  await expect(approve).toBeDisabled();
  await approve.click({ force: true });
  await app.press('a');
  await app.page.clock.runFor(450);
  await expect(approve).toBeDisabled();
  await approve.click({ force: true });
  expect((await bot.operation(op.operation_id)).state).toBe('pending');
  await app.page.clock.runFor(60);
  await expect(approve).toBeEnabled();
  await approve.click();
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
});

test('feedback takes one of what is offered, by number, and words of one\'s own', async ({ app, bot }) => {
  const op = await bot.ring({
    action_type: 'feedback', description: 'Which tone should the release notes take?',
    details: { options: ['Plain list', { label: 'Short story first', description: 'About 120 words' }, 'Upgrade steps only'] },
  });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press('2');
  await expect(app.button(/Short story first/)).toHaveAttribute('aria-pressed', 'true');
  await app.press(`${mod}+Enter`);
  const answered = await bot.until(op.operation_id, (o) => !!o.result);
  expect(answered.result?.fields?.choice).toBe('Short story first');
  expect(answered.result?.human_input).toBe('Short story first');
  expect(answered.result?.decision).toBeUndefined();
});

test('an empty answer is not sent', async ({ app, bot }) => {
  const op = await bot.ring({ action_type: 'feedback', description: 'Any thoughts?' });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Send answer').click();
  await expect(app.page.getByRole('alert')).toContainText('Write an answer first');
  expect((await bot.operation(op.operation_id)).result).toBeUndefined();
});

test('the operator asks back, the agent replies, and the operation goes on', async ({ app, bot }) => {
  const op = await bot.ring(high);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.press('r');
  const ask = app.page.getByRole('textbox', { name: 'Ask release-bot' });
  await expect(ask).toBeFocused();
  await ask.fill('Why does cron jump from 2.12?');
  await app.press('Enter');
  const asked = await bot.until(op.operation_id, (o) => o.state === 'waiting_input');
  expect(asked.messages.at(-1)?.text).toBe('Why does cron jump from 2.12?');
  await expect(app.row(op.operation_id)).toContainText('You asked');
  await bot.reply(op.operation_id, 'Its 2.13 rollout was **paused** on Tuesday.');
  const log = app.page.getByRole('log');
  await expect(log).toContainText('Its 2.13 rollout was paused on Tuesday.');
  await expect(log.locator('strong')).toHaveText('paused');
  await expect(app.row(op.operation_id)).toContainText('Asks you');
  await app.armed();
  await app.press(`${mod}+Shift+A`);
  expect((await bot.until(op.operation_id, (o) => !!o.result)).result?.decision).toBe('approve');
});

test('what is declined carries its reason', async ({ app, bot }) => {
  const op = await bot.ring({ action_type: 'bash', description: 'Touch the hardware key', details: { why_agent_cant: 'It has to be touched' } });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button(/^Decline/).click();
  const dialog = app.page.getByRole('dialog');
  await expect(dialog.getByRole('button', { name: 'Decline' })).toBeDisabled();
  await dialog.getByRole('textbox').fill('The key is at home');
  await dialog.getByRole('button', { name: 'Decline' }).click();
  const ended = await bot.until(op.operation_id, (o) => o.state === 'declined');
  expect(ended.ended?.reason).toBe('The key is at home');
});

test('hands-on work: steps are checked off, fields are filled, the answer has both', async ({ app, bot }) => {
  const op = await bot.ring({
    action_type: 'browser', description: 'Read our quota',
    details: { url: 'https://console.vendor.example/quota', required_action: 'Log in with a passkey', data_to_extract: ['plan_name', 'renewal_date'] },
  });
  await app.open();
  await app.openOperation(op.operation_id);
  await app.page.getByRole('textbox', { name: /plan_name/ }).fill('Team');
  await expect(app.page.getByText('1 of 2 filled')).toBeVisible();
  await app.page.getByRole('button', { name: 'Done', exact: true }).click();
  await app.button('Send answer').click();
  const answered = await bot.until(op.operation_id, (o) => !!o.result);
  expect(answered.result?.fields).toMatchObject({ plan_name: 'Team' });
  expect(answered.result?.fields?.renewal_date).toBeUndefined();
});
