import { createServer } from 'node:http';
import { mkdir, readFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { accessibleInBothThemes, expect, test } from './support/test';

test('a finished request goes to a log, a folder and a webhook; one that is away is shown and gets it later', async ({ app, bot, page, server }) => {
  const got: { id: string; text: string }[] = [];
  let away = true;
  const hook = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => (body += chunk));
    request.on('end', () => {
      if (!away) got.push({ id: String(request.headers['webhook-id']), text: body });
      response.writeHead(away ? 503 : 204).end();
    });
  });
  await new Promise<void>((listens) => hook.listen(0, '127.0.0.1', listens));
  const folder = path.join(server.dir, 'workspace');
  await mkdir(folder);
  try {
    await app.open('settings');
    const set = async (key: string, value: string) => {
      const row = page.locator(`[data-setting="${key}"]`);
      await row.getByRole('textbox').fill(value);
      await app.press('Enter');
      await expect(row).toContainText('Settings file');
    };
    await set('sinks.folder', folder);
    await set('sinks.webhook.url', `http://127.0.0.1:${(hook.address() as AddressInfo).port}/hook`);
    const deliveries = page.getByRole('region', { name: 'Deliveries' });
    await expect(deliveries.getByRole('listitem').filter({ hasText: 'Folder' })).toContainText(folder);
    await deliveries.getByRole('button', { name: 'Test: Folder' }).click();
    await expect(deliveries.getByRole('listitem').filter({ hasText: 'Folder' })).toContainText('A sample arrived.');
    await deliveries.getByRole('button', { name: 'Test: Webhook' }).click();
    await expect(deliveries.getByRole('alert')).toContainText('answered 503');
    await accessibleInBothThemes(page);

    const op = await bot.ring({ action_type: 'feedback', description: 'Which name?', details: { password: 'correct-horse-9' } });
    await server.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, human_input: 'Harbour' });
    const file = path.join(folder, `human_operation_${op.operation_id}.json`);
    await expect.poll(() => readFile(file, 'utf8').catch(() => ''), { timeout: 20_000 }).toContain('"human_input": "Harbour"');
    await expect.poll(() => readFile(path.join(server.dir, 'human.log'), 'utf8').catch(() => ''), { timeout: 20_000 }).toContain('"category":"human"');
    for (const place of [file, path.join(server.dir, 'human.log')]) expect(await readFile(place, 'utf8')).not.toContain('correct-horse-9');

    await app.go('inbox');
    await app.go('settings');
    const waiting = deliveries.getByRole('listitem').filter({ hasText: 'Webhook' });
    await expect(waiting).toContainText('1 wait since');
    await server.stop('SIGKILL');
    away = false;
    await server.again();
    await expect.poll(() => got.length, { timeout: 20_000 }).toBe(1);
    expect(got[0]?.id).toBe(`human_operation_${op.operation_id}`);
    expect(JSON.parse(got[0]?.text ?? '')).toMatchObject({ category: 'human_actions', agent_id: 'release-bot', result: { human_input: 'Harbour' } });
    expect(got[0]?.text).not.toContain('correct-horse-9');
  } finally {
    hook.close();
  }
  app.errors.length = 0; // what was refused, and the server that was killed
});
