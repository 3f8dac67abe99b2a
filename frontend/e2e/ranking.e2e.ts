import { cases, decisions, findings, requests } from './support/ranked';
import { expect, mod, test } from './support/test';

test.use({ flags: ['--set', 'human.max_pending_requests=100'] });

test('a word of its own comes before the beginning of one, and that before letters inside one', async ({ app, bot, page }) => {
  for (const description of requests) await bot.ring({ action_type: 'feedback', description });
  for (const [n, found] of findings.entries()) {
    const op = await bot.ring({ action_type: 'feedback', description: `Question ${n}` });
    await app.server.operator.call('POST', '/api/human/complete', { operation_id: op.operation_id, human_input: 'Yes', key_findings: [found] });
  }
  for (const command of decisions) await bot.call('POST', '/api/gate/evaluate', { tool: 'Bash', args: { command }, cwd: app.server.dir, session_id: 's', client: 'claude-code' });
  await app.open('inbox');
  await app.press(`${mod}+k`);
  const dialog = page.getByRole('dialog');
  const wrong: string[] = [];
  for (const query of new Set(cases.map(([query]) => query))) {
    await dialog.getByRole('combobox').fill(query);
    const answer = page.waitForResponse((response) => response.url().includes('/api/search?'));
    await answer;
    await expect(dialog.getByRole('status')).toHaveText('');
    const titles = (await dialog.getByRole('option').allTextContents()).map((text) => text.replace(/\s+/g, ' ').trim());
    const at = (title: string): number => titles.findIndex((text) => text.includes(title));
    for (const [, above, below] of cases.filter(([of]) => of === query)) {
      if (at(above) < 0 || (at(below) >= 0 && at(below) < at(above))) wrong.push(`${query}: ${above} is ${at(above)}, ${below} is ${at(below)}`);
    }
  }
  expect(wrong).toEqual([]);
});
