import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { program, type Server } from './support/server';
import { accessibleInBothThemes, expect, fits, test, type Agent } from './support/test';

// The real check of who calls: what this test does by itself is the operator's.
test.use({ flags: ['--set', 'server.check_callers=true'] });

/**
 * An agent: a shell that calls Deskbell, by which it is known, and then runs a script with some words for each. Returns what the
 * scripts wrote, a line each.
 */
async function agentRuns(server: Server, bot: Agent, ...runs: string[]): Promise<string[]> {
  const dir = await mkdtemp(path.join(tmpdir(), 'deskbell-agent-'));
  await writeFile(path.join(dir, 'agent.sh'), `"$DESKBELL" cancel op_none --data "$DATA" 2> /dev/null\n${runs.map((run) => `"$NODE" script.mjs ${run}\n`).join('')}`);
  await writeFile(
    path.join(dir, 'script.mjs'),
    `import { readFileSync, writeFileSync } from 'node:fs';
    const { SERVER, DESKBELL_KEY, TOKEN, CODE } = process.env;
    const send = async (to, body, token) => {
      const headers = { 'Content-Type': 'application/json', ...(token && { Authorization: 'Bearer ' + token }) };
      const answer = await fetch(SERVER + to, { method: 'POST', headers, body: JSON.stringify(body) });
      console.log(String(answer.status));
      return answer.json();
    };
    const rung = () => JSON.parse(readFileSync('rung', 'utf8'));
    switch (process.argv[2]) {
      case 'ring': {
        const details = { action: 'psql -c "DROP TABLE t"', risk_level: 'critical' };
        writeFileSync('rung', JSON.stringify(await send('/api/human/invoke', { action_type: 'approve', description: 'Drop the table?', details }, DESKBELL_KEY)));
        break;
      }
      case 'sign-in': await send('/api/session', { code: CODE }); break;
      case 'answer': await send('/api/human/complete', { operation_id: rung().operation_id, digest: rung().digest, decision: 'approve' }, TOKEN); break;
    }`,
  );
  const { code } = await server.invite();
  const agent = spawn('sh', ['agent.sh'], {
    cwd: dir,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, DESKBELL: program, DATA: server.dir, DESKBELL_KEY: bot.secret, NODE: process.execPath, SERVER: server.url, TOKEN: server.operator.secret, CODE: code },
  });
  let said = '';
  agent.stdout.on('data', (text: Buffer) => (said += text.toString()));
  await once(agent, 'close');
  await rm(dir, { recursive: true });
  return said.trim().split('\n');
}

const words = {
  en: {
    title: 'release-bot tried to answer requests', agent: 'agent release-bot', blocked: 'blocked', count: '2 attempts blocked', nothing: 'Nothing was answered or changed.', revoke: /^Revoke key/, verb: 'Revoke key',
    code: 'An unknown program tried a wrong one-time code', mistyped: 'If you mistyped, ignore this.',
  },
  'zh-CN': {
    title: 'release-bot 试图回答请求', agent: '智能体 release-bot', blocked: '已阻止', count: '2 次尝试均已阻止', nothing: '没有任何请求被回答', revoke: /^撤销密钥/, verb: '撤销密钥',
    code: '未知程序 尝试了错误的一次性代码', mistyped: '如果是你输错了，请忽略',
  },
};

for (const [language, say] of Object.entries(words)) {
  test(`an agent that answers itself is seen with its processes, and its key revoked: ${language}`, async ({ app, bot, page, server }) => {
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    expect(await agentRuns(server, bot, 'ring')).toEqual(['201']);
    await app.open('inbox');
    await expect(page.getByRole('link', { name: 'Drop the table?' })).toBeVisible();
    expect(await agentRuns(server, bot, 'ring', 'sign-in', 'answer')).toEqual(['201', '403', '403']);

    await page.getByRole('link', { name: say.title }).press('Enter');
    await expect(page.getByRole('heading', { name: say.title })).toBeFocused();
    await expect(page.getByText(say.count)).toBeVisible();
    await expect(page.getByText(say.nothing)).toBeVisible();
    const tree = page.locator('.ptree');
    const agent = tree.getByRole('row').filter({ hasText: 'sh agent.sh' });
    await expect(agent).toHaveCount(1);
    await expect(agent).toContainText(say.agent);
    await expect(agent.locator('.pid')).toHaveText(/^\d+$/);
    await expect(tree.getByText(say.agent)).toHaveCount(1);
    for (const script of ['sign-in', 'answer']) await expect(tree.getByRole('row').filter({ has: page.locator('code', { hasText: `script.mjs ${script}` }) })).toContainText(say.blocked);
    await expect(tree).not.toContainText(server.operator.secret);
    await accessibleInBothThemes(page);
    await fits(page);

    // What can be done about it: look at the request, and revoke the key.
    await page.locator('article').getByRole('link', { name: 'Drop the table?' }).click();
    await expect(page.locator('#operation-title')).toHaveText('Drop the table?');
    const id = page.url().split('/').at(-1) ?? '';
    await page.goBack();
    await app.button(say.revoke).click();
    await page.getByRole('dialog').getByRole('button', { name: say.verb }).click();
    await expect(page.getByRole('link', { name: say.title })).toHaveCount(0);
    await expect(bot.operation(id)).rejects.toThrow('401');
    expect((await server.operator.operation(id)).state).toBe('cancelled');
  });

  test(`a wrong one-time code is an attempt, whoever gives it: ${language}`, async ({ app, page, server, bot }) => {
    await page.addInitScript((to) => localStorage.setItem('deskbell.language', to), language);
    await agentRuns(server, bot, 'ring');
    await app.open('inbox');
    await expect(server.signIn('AAAAA-AAAAA')).rejects.toThrow('401');
    await page.getByRole('link', { name: say.code }).click();
    await expect(page.getByText(say.mistyped)).toBeVisible();
    await expect(page.locator('.ptree').getByRole('row').last()).toContainText(say.blocked);
    await expect(app.button(say.revoke)).toHaveCount(0);
    await accessibleInBothThemes(page);
  });
}
