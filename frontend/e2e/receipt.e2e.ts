import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Agent, Operation, Server } from './support/server';
import { accessible, expect, fits, test } from './support/test';

const deploy = { action_type: 'approve', description: 'Drop invoices_2019', details: { action: 'psql -c "drop table invoices_2019"', risk_level: 'low' } };

for (const [language, words] of Object.entries({
  en: { title: 'Receipt 1', good: 'verified just now', first: 'nothing: it is the first', save: 'Save…', session: 'the session only' },
  'zh-CN': { title: '回执 1', good: '刚刚已验证', first: '无：这是第一张', save: '保存…', session: '仅凭会话' },
})) {
  test(`an answer has a receipt that is checked, and can be saved (${language})`, async ({ app, bot, page, server }) => {
    const op = await bot.ring(deploy);
    await server.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, digest: op.digest, decision: 'approve' });
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    await app.open(`history/${op.operation_id}`);
    const receipt = page.getByRole('region', { name: words.title });
    await expect(receipt).toContainText(words.good);
    await expect(receipt).toContainText(`sha256:${op.digest}`);
    await expect(receipt).toContainText(words.first);
    await expect(receipt).toContainText(words.session);
    const at = receipt.getByRole('time');
    await expect(at).toHaveText(/^\S.* \d\d:\d\d:\d\d$/);
    await expect(at).toHaveAttribute('title', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/); // as it was signed
    await accessible(page);
    await fits(page);
    const saving = page.waitForEvent('download');
    await receipt.getByRole('button', { name: words.save }).click();
    const saved = JSON.parse(await readFile(await (await saving).path(), 'utf8')) as { receipts: { receipt_id: string }[] };
    expect(saved.receipts.map((one) => one.receipt_id)).toEqual([`deskbell:receipt:${op.operation_id}:2`]);
  });
}

/** Asks and answers, once for each word, in order. */
async function answered(bot: Agent, server: Server, words: string[]): Promise<Operation[]> {
  const all: Operation[] = [];
  for (const word of words) {
    const op = await bot.ring({ ...deploy, description: `Drop ${word}` });
    await server.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, digest: op.digest, decision: 'approve', human_input: `because of ${word}` });
    all.push(op);
  }
  return all;
}

test('a receipt stands in its chain, from where its neighbors are opened', async ({ app, bot, page, server }) => {
  const ops = await answered(bot, server, ['one', 'two', 'three', 'four']);
  await app.open(`history/${ops[2]?.operation_id}`);
  const chain = page.getByRole('region', { name: 'Place in the chain' });
  await expect(chain).toContainText('4 receipts, unbroken');
  await expect(chain.getByRole('listitem')).toHaveText([/^1 Drop one/, /^2 Drop two/, /^3 Drop three/, /^4 Drop four/]);
  await expect(chain.locator('[aria-current=true]')).toContainText('Drop three');
  const last = chain.getByRole('listitem').last().locator('code');
  await expect(page.getByRole('region', { name: 'Receipt 3' })).toContainText((await last.getAttribute('title')) ?? 'no hash');
  await accessible(page);
  await fits(page);
  await chain.getByRole('button', { name: 'Drop four' }).click();
  await expect(page.getByRole('region', { name: 'Receipt 4' })).toContainText('nothing yet: it is the last');
});

for (const [language, words] of Object.entries({
  en: { receipt: 'Receipt 3', chain: 'Place in the chain', before: 'Receipt 1', whole: 'verified just now', broken: 'broken after number 1', advice: "Don't rely on 2 to 4", unreliable: "don't rely on it", found: (id?: string) => `of operation ${id}) was changed, or the entries before it were`, save: 'Save report…' },
  'zh-CN': { receipt: '回执 3', chain: '在链中的位置', before: '回执 1', whole: '刚刚已验证', broken: '在第 1 张之后断裂', advice: '不要依赖第 2 至 4 张', unreliable: '不要依赖', found: (id?: string) => `请求 ${id} 的第 2 版）或它之前的条目被更改`, save: '保存报告…' },
})) {
  test(`an answer that was changed in the database breaks the chain (${language})`, async ({ app, bot, page, server }) => {
    const ops = await answered(bot, server, ['one', 'abcdefgh', 'three', 'four']);
    await server.stop();
    const file = path.join(server.dir, 'deskbell.db');
    const database = await readFile(file);
    const kept = Buffer.from('because of abcdefgh');
    let changes = 0;
    for (let at = database.indexOf(kept); at >= 0; at = database.indexOf(kept, at)) {
      database.write('because of xxxxxxxx', at);
      changes++;
    }
    expect(changes).toBeGreaterThan(0);
    await writeFile(file, database);
    await server.again();
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    await app.open(`history/${ops[2]?.operation_id}`);
    const chain = page.getByRole('region', { name: words.chain });
    await expect(chain.getByRole('alert')).toContainText(words.broken);
    await expect(chain.getByRole('alert')).toContainText(words.advice);
    await expect(chain.getByRole('alert')).toContainText(words.found(ops[1]?.operation_id));
    await expect(page.getByRole('region', { name: words.receipt })).toContainText(words.unreliable);
    await accessible(page);
    await fits(page);
    const saving = page.waitForEvent('download');
    await chain.getByRole('button', { name: words.save }).click();
    const saved = await readFile(await (await saving).path(), 'utf8');
    const report = JSON.parse(saved) as { journal: { found: { operation_id: string }[]; sound: number; head: { tree_size: number }; sound_head: { tree_size: number } }; receipts: { receipt_id: string }[] };
    expect(report.journal).toMatchObject({ found: [{ operation_id: ops[1]?.operation_id }], sound: 1, head: { tree_size: 4 }, sound_head: { tree_size: 1 } });
    expect(report.receipts.map((one) => one.receipt_id)).toContain(`deskbell:receipt:${ops[2]?.operation_id}:2`);
    expect(saved).not.toMatch(/because of|invoices/); // what was asked and answered
    await app.open(`history/${ops[0]?.operation_id}`);
    await expect(page.getByRole('region', { name: words.before })).toContainText(words.whole);
    await expect(chain.getByRole('alert')).toContainText(words.broken);
  });
}

for (const [language, words] of Object.entries({
  en: { title: 'Key of receipts', fingerprint: 'Fingerprint', renew: 'New key…', ask: 'Make a new key?', verb: 'Make new key', before: 'Earlier keys', save: 'Save keys…' },
  'zh-CN': { title: '回执的密钥', fingerprint: '指纹', renew: '新密钥…', ask: '生成新密钥？', verb: '生成新密钥', before: '以前的密钥', save: '保存密钥…' },
})) {
  test(`the key of receipts is in the settings, and another can take its place (${language})`, async ({ app, bot, page, server }) => {
    const keys = async (): Promise<{ id: string; after?: string }[]> => (await server.operator.call<{ keys: { id: string; after?: string }[] }>('GET', '/api/receipts/keys')).keys;
    const shown = (id = ''): string => id.replace('deskbell:key:', '').replace(/(.{4})(?=.)/g, '$1 ');
    const [first] = await keys();
    await bot.ring(deploy); // so there is no first run
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    await app.open('settings');
    const part = page.getByRole('region', { name: words.title, exact: true });
    await expect(part).toContainText(shown(first?.id));
    await expect(part).not.toContainText(words.before);
    const saving = page.waitForEvent('download');
    await part.getByRole('button', { name: words.save }).click();
    const saved = JSON.parse(await readFile(await (await saving).path(), 'utf8')) as { log_keys: Record<string, string> };
    expect(Object.keys(saved.log_keys)).toEqual([first?.id]);
    await part.getByRole('button', { name: words.renew }).click();
    await accessible(page);
    await page.getByRole('dialog', { name: words.ask }).getByRole('button', { name: words.verb }).click();
    await expect(part).toContainText(words.before);
    const second = (await keys()).at(-1);
    expect(second?.after).toBe(first?.id);
    await expect(part).toContainText(shown(second?.id));
    await accessible(page);
    await fits(page);
  });
}
