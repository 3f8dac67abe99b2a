import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { McpClient } from './support/mcp';
import { program, type Agent } from './support/server';
import { accessible, expect, fits, mod, test } from './support/test';

interface Reading {
  operation_id: string;
  next?: string;
  edited?: { digest: string; requested_digest: string };
}

/** An agent that asks over MCP and reads what it is answered. */
async function connect(bot: Agent): Promise<{ invoke: (args: object) => Promise<string>; answer: (id: string) => Promise<Reading> }> {
  const client = await McpClient.connect(bot);
  return {
    invoke: async (args) => (await client.human<Reading>({ action: 'invoke', wait_seconds: 0, ...args })).operation_id,
    answer: (id) => client.human<Reading>({ action: 'wait', operation_id: id, wait_seconds: 20 }),
  };
}

const maintenance = {
  type: 'object',
  properties: {
    on_call: { type: 'string', title: 'Who is on call?', minLength: 2, maxLength: 80 },
    pause: { type: 'integer', title: 'Pause between the regions', description: 'In minutes.', minimum: 1, maximum: 30 },
    on_failure: { type: 'string', title: 'If a check fails', oneOf: [{ const: 'rollback', title: 'Roll back and report' }, { const: 'stop', title: 'Stop and ask me' }] },
    channels: { type: 'array', title: 'Tell these channels', minItems: 1, items: { type: 'string', enum: ['#billing', '#support', 'status'] } },
    start: { type: 'string', title: 'Start of the window', format: 'date', formatMinimum: '2026-11-23' },
    ticket: { type: 'string', title: 'Ticket', pattern: '^(OPS-)+\\d+$' },
    order: { type: 'array', title: 'What matters most? First comes first.', minItems: 3, uniqueItems: true, items: { anyOf: [{ const: 'loss', title: 'No lost payments' }, { const: 'short', title: 'Short read-only time' }, { const: 'cost', title: 'Low cost' }] } },
    dry_run: { type: 'boolean', title: 'Dry run first', default: true },
    note: { type: 'string', title: 'Anything else the agent should know' },
  },
  required: ['on_call', 'pause', 'on_failure', 'channels', 'start', 'order'],
};

test('a form is filled in by keys, says what is wrong where it is, and its agent reads the values over MCP', async ({ app, bot, page }) => {
  const agent = await connect(bot);
  const id = await agent.invoke({ action_type: 'feedback', description: 'Schedule the maintenance window for billing-eu', details: { response_schema: maintenance } });
  await app.open();
  await app.openOperation(id);
  const form = page.getByRole('region', { name: 'What the agent needs to know' });
  await expect(form).toContainText('9 questions, 6 required');
  await expect(app.button('Send answer')).toBeDisabled();
  await expect(app.button('6 answers need a change')).toBeVisible();
  await form.getByLabel('Who is on call?').fill('M');
  await page.keyboard.press('Tab');
  await expect(form.getByText('At least 2 characters.')).toBeVisible();
  await form.getByLabel('Who is on call?').fill('Mei Tan');
  await expect(form.getByText('At least 2 characters.')).toBeHidden();
  await form.getByLabel('Pause between the regions').fill('45');
  await page.keyboard.press('F8');
  await expect(form.getByLabel('Roll back and report')).toBeFocused();
  await expect(form.getByText('At most 30.')).toBeVisible();
  await page.keyboard.press('Space');
  await form.getByLabel('Pause between the regions').fill('20');
  await form.getByLabel('#support').check();
  await form.getByLabel('#billing').check();
  await form.getByLabel('Start of the window').fill('2026-11-22');
  await form.getByLabel('Ticket').fill('OPS-1204x');
  await page.keyboard.press('Tab');
  await expect(form.getByText('Not before 2026-11-23.')).toBeVisible();
  await expect(form.getByText('Doesn\'t match the pattern')).toBeVisible();
  await form.getByLabel('Start of the window').fill('2026-11-23');
  await form.getByLabel('Ticket').fill('OPS-1204');
  await form.getByRole('listitem', { name: 'Short read-only time, 2 of 3' }).press('Alt+ArrowUp');
  await expect(form.getByRole('listitem', { name: 'Short read-only time, 1 of 3' })).toBeFocused();
  await expect(form.getByLabel('Yes')).toBeChecked();
  await accessible(page);
  await fits(page);
  await app.press(`${mod}+Enter`);
  const read = await agent.answer(id);
  expect(read).toMatchObject({ status: 'completed', response: { on_call: 'Mei Tan', pause: 20, on_failure: 'rollback', channels: ['#billing', '#support'], start: '2026-11-23', ticket: 'OPS-1204', order: ['short', 'loss', 'cost'], dry_run: true } });
  await expect(page.getByText('Short read-only time, No lost payments, Low cost')).toBeVisible();
});

for (const scheme of ['light', 'dark'] as const) {
  test(`options are chosen, ranked and rated (${scheme})`, async ({ app, bot, page }) => {
    await page.emulateMedia({ colorScheme: scheme });
    const agent = await connect(bot);
    const ask = (details: object): Promise<string> => agent.invoke({ action_type: 'feedback', description: 'Which colours?', details: { options: [{ value: 'b', label: 'Blue' }, { value: 'g', label: 'Green' }, 'Red'], ...details } });
    await app.open();

    const several = await ask({ choose: 'several' });
    await app.openOperation(several);
    await expect(app.button('Send answer')).toBeDisabled();
    await app.press('3', '1');
    await app.press(`${mod}+Enter`);
    expect(await agent.answer(several)).toMatchObject({ response: { choice: ['b', 'Red'] }, human_input: 'Blue, Red' });

    const rank = await ask({ choose: 'rank', rating: { min: 1, max: 5 } });
    await app.openOperation(rank);
    await app.button('Move Red up').click();
    await page.getByRole('radiogroup', { name: 'Rating' }).getByLabel('4').check();
    await accessible(page);
    await fits(page);
    await app.button('Send answer').click();
    expect(await agent.answer(rank)).toMatchObject({ response: { choice: ['b', 'Red', 'g'], rating: 4 } });

    const one = await ask({ choose: 'one' });
    await app.openOperation(one);
    await app.press('2');
    await app.press(`${mod}+Enter`);
    expect(await agent.answer(one)).toMatchObject({ response: { choice: 'g' }, human_input: 'Green' });
  });
}

const call = { action_type: 'approve', description: 'Schedule the maintenance window', details: { action: 'schedule_maintenance', arguments: { cluster: 'billing-eu', read_only_minutes: 45, notify: ['#billing'], ticket: 'OPS-1204' }, fixed: ['ticket'], risk_level: 'low' } };

test('arguments are edited before the approval, which its receipt and its agent then have', async ({ app, bot, page, server }) => {
  const agent = await connect(bot);
  const id = await agent.invoke(call);
  await app.open();
  await app.openOperation(id);
  await expect(page.getByText('fixed by the agent')).toBeVisible();
  await expect(app.button('Edit ticket')).toHaveCount(0);
  await app.button('Edit read_only_minutes').click();
  const value = page.getByLabel('New value of read_only_minutes, as JSON');
  await value.fill('twenty');
  await value.press('Enter');
  await expect(page.getByRole('alert')).toContainText('Not JSON');
  // While it is no JSON, or was not kept yet, nothing is approved: not the call as it was, either.
  await app.button('Approve').click();
  await expect(page.getByText("Not sent. read_only_minutes: this isn't JSON.")).toBeVisible();
  await expect(value).toBeFocused();
  await value.fill('20');
  await app.button('Approve').click();
  await expect(page.getByText('Keep or undo your edit of read_only_minutes first')).toBeVisible();
  await expect(value).toBeFocused();
  expect((await server.operator.operation(id)).state).not.toBe('completed');
  await value.press('Enter');
  await expect(page.getByText('As edited')).toBeVisible();
  await expect(app.button('Edit read_only_minutes')).toBeFocused();
  await accessible(page);
  await fits(page);
  await app.button('Approve with 1 edit').click();
  const read = await agent.answer(id);
  expect(read).toMatchObject({
    decision: 'approve', edited: { arguments: { ...call.details.arguments, read_only_minutes: 20 }, difference: [{ name: 'read_only_minutes', old: 45, new: 20 }] },
  });
  expect(read.next).toContain('exactly those in edited.arguments');
  const { edited } = read;
  expect(edited?.digest).not.toBe(edited?.requested_digest);

  // The receipt approves the edited call, and no other.
  const receipts = await bot.call<{ receipts: { action: { parameters: { digest: string; requested_digest: string } } }[] }>('GET', `/api/human/operations/${id}/receipts`);
  expect(receipts.receipts[0]?.action.parameters).toMatchObject({ digest: `sha256:${edited?.digest}`, requested_digest: `sha256:${edited?.requested_digest}` });
  const keys = path.join(server.dir, 'keys.json');
  const receipt = path.join(server.dir, 'receipt.json');
  await writeFile(keys, JSON.stringify(await server.operator.call('GET', '/api/receipts/keys')));
  await writeFile(receipt, JSON.stringify(receipts));
  const { stdout } = await promisify(execFile)(program, ['verify', receipt, '--keys', keys]);
  expect(stdout).toContain(`sha256:${edited?.digest}`);
});

test('an approval of another call than was shown is refused', async ({ bot, server }) => {
  const op = await bot.ring(call);
  const shown = await server.operator.call<{ digest: string }>('POST', '/api/human/edited', { operation_id: op.operation_id, args: { read_only_minutes: 20 } });
  const approve = (args: object, digest: string): Promise<unknown> => server.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, decision: 'approve', args, digest });
  await expect(approve({ read_only_minutes: 2000 }, shown.digest)).rejects.toThrow('another version');
  await expect(approve({ read_only_minutes: 20 }, op.digest)).rejects.toThrow('another version');
  await expect(approve({}, shown.digest)).rejects.toThrow('another version');
  await expect(approve({ ticket: 'OPS-1' }, shown.digest)).rejects.toThrow('fixed by the agent');
  await expect(approve({ force: true }, shown.digest)).rejects.toThrow('not one of the arguments');
  await approve({ read_only_minutes: 20 }, shown.digest);
});

test('what no form may ask is refused when it is sent, and names its property', async ({ bot }) => {
  const agent = await connect(bot);
  const ask = (schema: object): Promise<string> => agent.invoke({ action_type: 'bash', description: 'x', details: { response_schema: schema } });
  const properties = (all: object): object => ({ type: 'object', properties: all });
  await expect(ask(properties({ db_password: { type: 'string' } }))).rejects.toThrow('response_schema.properties.db_password: asks for a password');
  await expect(ask(properties({ x: { type: 'string', pattern: '(a)\\1' } }))).rejects.toThrow('properties.x.pattern');
  await expect(ask(properties(Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`p${i}`, { type: 'boolean' }]))))).rejects.toThrow('the limit is');
});

test('a form on a narrow page, in Chinese', async ({ app, bot, page }) => {
  await page.setViewportSize({ width: 400, height: 800 });
  await page.addInitScript(() => localStorage.setItem('deskbell.language', 'zh-CN'));
  const op = await bot.ring({ action_type: 'approve', description: '安排维护窗口', details: { ...call.details, response_schema: maintenance } });
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(page.getByRole('region', { name: '智能体需要知道的内容' })).toContainText('9 个问题，6 个必填');
  await expect(app.button('批准')).toBeDisabled();
  await expect(app.button(/附理由拒绝|拒绝/).first()).toBeEnabled();
  await accessible(page);
  await fits(page);
});
