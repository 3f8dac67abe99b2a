import { expect, test } from './support/test';

// What agents really send, under the names they send it: each part has a place of its own, and nothing is "also sent".
const requests: { kind: string; details: Record<string, unknown>; shows: string[] }[] = [
  { kind: 'feedback', details: { prompt: 'Which cache?', proposal: 'Keep it in Redis', issues: ['cost'], choices: ['Redis', 'Memory'] }, shows: ['Which cache?', 'Keep it in Redis', 'cost', 'Memory'] },
  { kind: 'bash', details: { what_to_do: 'Restart it', cmd: 'systemctl restart db', why_agent_cannot: 'It needs sudo', host: 'db1', cwd: '/srv', expected_output: 'active' }, shows: ['Restart it', 'systemctl restart db', 'It needs sudo', 'db1', '/srv', 'active'] },
  { kind: 'desktop', details: { application: 'LibreOffice', file: '/tmp/a.ods', steps: [{ description: 'Open request' }, 'Save it'], expected_result: 'A PDF', why_human: 'It has no API' }, shows: ['LibreOffice', '/tmp/a.ods', 'Open request', 'Save it', 'A PDF', 'It has no API'] },
  { kind: 'browser', details: { link: 'https://console.example/', task: 'Sign in', steps: ['Open the plan'], extract: ['quota'], why_human: 'It asks for a passkey' }, shows: ['console.example', 'Sign in', 'Open the plan', 'quota', 'It asks for a passkey'] },
  { kind: 'review', details: { files: [{ path: 'a.go', diff: '@@ -1 +1 @@\n-old\n+new' }, { filename: 'b.go', patch: '@@ -1 +1 @@\n-was\n+is', additions: 1 }], snippet: 'x := 1', focus: ['Locks'], tests: true }, shows: ['a.go', 'new', 'b.go', 'was', 'x := 1', 'Locks', 'tests passed'] },
  { kind: 'approve', details: { action: 'make deploy', consequences: '5 services', how_to_undo: 'make undo', severity: 'High' }, shows: ['make deploy', '5 services', 'make undo', 'High risk'] },
];

for (const { kind, details, shows } of requests) {
  test(`a request of kind ${kind} is read under other names of its fields`, async ({ app, bot }) => {
    const op = await bot.ring({ action_type: kind, description: `Other names, ${kind}`, details });
    await app.open();
    await app.openOperation(op.operation_id);
    for (const text of shows) await expect(app.page.getByText(text).filter({ visible: true }).or(app.page.locator(`input[value="${text}"]`)).first()).toBeVisible();
    // Of an approval, severity is a text about the risk as well.
    if (kind !== 'approve') await expect(app.page.getByText('also sent by the agent')).toHaveCount(0);
  });
}

test('a risk in words of its own counts as high, and is shown as it was sent', async ({ app, bot }) => {
  const op = await bot.ring({ description: 'Drop the table', details: { action: 'drop table users', risk_level: 'severe' } });
  await app.open();
  await app.openOperation(op.operation_id);
  await expect(app.page.locator('.facts')).toContainText('High risk');
  await expect(app.page.locator('.facts')).toContainText('sent as “severe”');
  await expect(app.page.getByText('also sent by the agent')).toHaveCount(0);
});
