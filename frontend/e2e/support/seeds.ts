import type { Screen } from './screen';
import type { Operation, Server } from './server';
import type { Vendor } from './vendor';

/** A server on a busy afternoon. The ids are by the short names used here. */
export async function seed(server: Server): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  const me = server.operator;
  const ring = async (name: string, agent: string, body: Parameters<Awaited<ReturnType<Server['agent']>>['ring']>[0]): Promise<Operation> => {
    const op = await (await server.agent(agent)).ring(body);
    ids[name] = op.operation_id;
    return op;
  };
  const complete = (op: Operation, answer: object): Promise<unknown> => me.call('POST', '/api/human/complete', { operation_id: op.operation_id, digest: op.digest, ...answer });

  // What has ended already.
  const ended: [string, string, object, object][] = [
    ['release-bot', 'Roll out api 2.13.4 to production', { action: 'kubectl apply -f api-2.13.4.yaml', risk_level: 'high' }, { decision: 'approve', human_input: 'Fine now that the rollback plan names a time limit of 90 s' }],
    ['release-bot', 'Turn on the new price engine for 10 %', { action: 'flagctl set price-engine 10', risk_level: 'medium' }, { decision: 'deny', human_input: 'No rollback named, and it is Friday' }],
    ['infra-agent', 'Apply terraform plan, 3 to change', { action: 'terraform apply plan.out', risk_level: 'high' }, { decision: 'approve', human_input: 'Keep the rollback note in the ticket' }],
    ['release-bot', 'Restart the gateway in eu-1', { action: 'kubectl rollout restart deploy/gateway', risk_level: 'low' }, { decision: 'approve', human_input: 'rollback: none needed, it is stateless' }],
    ['release-bot', 'Scale worker to 40 pods', { action: 'kubectl scale deploy/worker --replicas=40', risk_level: 'low' }, { decision: 'approve' }],
    ['infra-agent', 'Rotate the signing keys', { action: 'keyctl rotate --all', risk_level: 'critical' }, { decision: 'deny', human_input: 'Not while the release is under way' }],
  ];
  for (const [agent, description, details, answer] of ended) await complete(await ring(description, agent, { description, details }), answer);
  const tone = await ring('answered', 'doc-writer', { action_type: 'feedback', description: 'Which name for the changelog?', details: { options: ['Changes', 'What is new'] } });
  await complete(tone, { human_input: 'What is new', fields: { choice: 'What is new' } });
  const review = await ring('reviewed', 'claude-code', { action_type: 'review', description: 'Retry uploads with backoff', session_id: 'web', details: { file_path: 'src/upload.ts', code_snippet: 'retry(upload, 3)' } });
  await complete(review, { human_input: 'Cap the wait at 30 s', key_findings: ['The timer leaks when the page is left'] });
  const declined = await ring('declined', 'qa-runner', { action_type: 'desktop', description: 'Pair the test phone again', details: { action_sequence: ['Open Settings', 'Pair'] } });
  await me.call('POST', '/api/human/decline', { operation_id: declined.operation_id, reason: 'The phone is in repair until Tuesday' });
  const withdrawn = await ring('withdrawn', 'migrator', { description: 'Rename the orders table', details: { action: 'ALTER TABLE orders RENAME TO purchases', risk_level: 'high' } });
  await (await server.agent('migrator')).cancel(withdrawn.operation_id, 'The plan changed');

  // What waits.
  const rollout = await ring('approve', 'release-bot', {
    description: 'Roll out api 2.14.0 to production', priority: 9, timeout: 600,
    details: {
      action: 'kubectl apply -f prod-deployment.yaml', risk_level: 'high', environment: 'production', reversibility: 'costly to reverse',
      impact: [
        { Service: 'api', Now: '2.13.4', After: '2.14.0', Pods: 18 }, { Service: 'gateway', Now: '2.13.4', After: '2.14.0', Pods: 8 }, { Service: 'worker', Now: '2.13.4', After: '2.14.0', Pods: 12 },
        { Service: 'cron', Now: '2.12.9', After: '2.14.0', Pods: 2 }, { Service: 'web', Now: '2.13.4', After: '2.14.0', Pods: 6 },
      ],
      risk: 'All traffic moves within 6 minutes. cron skips one minor version.', rollback_plan: 'kubectl rollout undo deployment/api', tests: '412 passed, 0 failed', change_ticket: 'OPS-1182',
    },
  });
  await me.call('POST', '/api/human/reply', { operation_id: rollout.operation_id, text: 'Why does cron jump from 2.12?' });
  await (await server.agent('release-bot')).reply(rollout.operation_id, 'Its 2.13 rollout was paused on Tuesday (OPS-1170). The migration in 2.14 covers **both** steps.');
  await me.call('POST', '/api/human/input', { operation_id: rollout.operation_id, human_input: 'Wait until cron is on 2.13' });

  await ring('critical', 'claude-code', { description: 'Delete build/, .cache/ and old fixtures', session_id: 'api-server', priority: 7, details: { action: 'rm -rf build .c\u0430che fixtures/\u202Eold', risk_level: 'critical', impact: '1,204 files, 214 of them not committed' } });
  await ring('low', 'qa-runner', { description: 'Run the end-to-end tests', timeout: 60, details: { action: 'npm run e2e -- --project=webkit', risk_level: 'low', impact: 'Runs tests; writes test-results/' } });
  await ring('feedback', 'doc-writer', {
    action_type: 'feedback', description: 'Which tone should the 2.14 release notes take?', timeout: 1800,
    details: { options: ['Plain list, one line per change', { label: 'Short story first, then the list', description: 'About 120 words' }, 'Upgrade steps only'], current_design: 'Release notes are **generated** from commit titles.\n\n- fixes\n- features', concerns: ['Readers skip long lists', 'Two breaking changes'] },
  });
  await ring('desktop', 'qa-runner', {
    action_type: 'desktop', description: 'Export the signed contract from the desktop client', timeout: 1,
    details: { path: '~/contracts/2026/K-0417.pdf', action_sequence: ['Open Signer and log in', 'Find contract K-0417', 'Check that both signatures are green', 'Export as PDF/A with the audit page'], expected_outcome: 'A PDF/A file of 14 pages, the last one the audit page.' },
  });
  await ring('browser', 'price-scout', {
    action_type: 'browser', description: 'Read our quota and unit prices from the vendor console', timeout: 1800,
    details: { url: 'https://console.vendor.example/org/acme/billing/quota', required_action: 'Log in with a passkey and open Billing', requires_human: 'The login asks for a passkey', data_to_extract: ['plan_name', { name: 'quota_requests', type: 'number', description: 'per month' }, 'renewal_date'] },
  });
  const lock = await ring('review', 'claude-code', {
    action_type: 'review', description: 'Refresh tokens under a lock\n\nTwo tabs could refresh at once.', session_id: 'web', timeout: 0,
    details: { file_path: 'src/auth/session.ts', branch: 'fix/token-race', tests_passed: true, focus_areas: ['No double refresh under load', 'Lock is released when refresh throws'], code_snippet: '@@ -41,3 +41,4 @@ export class Session\n   async token(): Promise<string> {\n-    if (this.expiresAt > Date.now()) return this.value;\n+    if (this.expiresAt > this.clock.now()) return this.value;\n+    return this.lock.run(async () => {\n   }' },
  });
  await me.call('POST', '/api/human/reply', { operation_id: lock.operation_id, text: 'Why is the token refreshed before the lock is taken?' });
  const key = await ring('bash', 'infra-agent', { action_type: 'bash', description: 'Touch the hardware key for aws sso', timeout: 0, details: { why_agent_cant: 'The key has to be touched', command: 'aws sso login --profile prod', target: 'prod account' }, context: { task: 'Rotate keys', progress: '3 of 5' } });
  await me.call('POST', '/api/human/snooze', { operation_id: key.operation_id, until: new Date(Date.now() + 3_600_000).toISOString() });
  await me.until(ids.desktop ?? '', (op) => op.overdue);
  return ids;
}

/** Somebody at a screen works on an operation and is recorded, up to its end or so far. Returns the operation's id. */
export async function record(server: Server, screen: Screen, stop: boolean): Promise<string> {
  const me = server.operator;
  const { operation_id: id } = await (await server.agent('qa-runner')).ring({
    action_type: 'desktop', description: 'Write the receipt of contract K-0417', timeout: 3600,
    details: { path: `${screen.dir}/K-0417.txt`, action_sequence: ['Open the terminal', 'Write K-0417.txt', 'Show what is in the folder', 'Close the terminal'], expected_outcome: 'A file K-0417.txt with one line.' },
  });
  await me.call('POST', '/api/human/claim', { operation_id: id });
  const { recording_id: recording } = await me.call<{ recording_id: string }>('POST', '/api/recordings', { operation_id: id, options: { folders: [screen.dir] } });
  const types = async (): Promise<string[]> => (await me.call<{ actions: { type: string }[] }>('GET', `/api/recordings/${recording}/actions`)).actions.map((action) => action.type);
  await screen.terminal('Receipts');
  await me.call('POST', `/api/recordings/${recording}/mark`, { step: 0, done: true });
  await screen.type(`echo received > ${screen.dir}/K-0417.txt`);
  await screen.do('key', 'Return');
  await screen.until('the file', async () => (await types()).includes('file'));
  await screen.do('mousemove', '300', '250', 'click', '1');
  await screen.type(`ls -l ${screen.dir}`);
  await screen.do('key', 'Return');
  await screen.do('mousemove', '500', '200', 'click', '4');
  await screen.until('scrolling', async () => (await types()).includes('scroll'));
  await me.call('POST', '/api/human/input', { operation_id: id, fields: { steps_done: '1' }, human_input: 'The folder was empty before.' });
  if (stop) await me.call('POST', `/api/recordings/${recording}/stop`, {});
  return id;
}

/** Somebody reads a vendor's pages and is recorded; what they pick waits in the recording. Returns the operation's id. */
export async function visit(server: Server, screen: Screen, vendor: Vendor): Promise<string> {
  const me = server.operator;
  const { operation_id: id } = await (await server.agent('price-scout')).ring({
    action_type: 'browser', description: 'Read our quota and unit prices from the vendor console', timeout: 3600,
    details: { url: vendor.url, requires_human: 'The login asks for a passkey', data_to_extract: { plan_name: 'text', unit_prices: 'table', used_this_month: 'number', unit_price_usd: 'number', renewal_date: 'date' } },
  });
  await me.call('POST', '/api/human/claim', { operation_id: id });
  const { recording_id: recording } = await me.call<{ recording_id: string }>('POST', '/api/recordings', { operation_id: id, options: { browser: { dom: true, network: true }, desktop: false } });
  const done = (what: string, type: string, n = 1): Promise<void> =>
    screen.until(what, async () => (await me.call<{ actions: { type: string }[] }>('GET', `/api/recordings/${recording}/actions`)).actions.filter((action) => action.type === type).length >= n);
  await vendor.shows(screen, '/');
  await vendor.click(screen, 'quota');
  await vendor.shows(screen, '/quota');
  const picks = [['plan_name', 'element', 'plan'], ['unit_prices', 'table', 'price'], ['used_this_month', 'element', 'used'], ['unit_price_usd', 'element', 'price']] as const;
  for (const [i, [field, take, part]] of picks.entries()) {
    await me.call('POST', `/api/recordings/${recording}/pick`, { field, take });
    await vendor.click(screen, part);
    await done(field, 'pick', i + 1);
  }
  await vendor.click(screen, 'ask');
  await vendor.click(screen, 'csv');
  await done('the download', 'download');
  await me.call('POST', '/api/human/input', { operation_id: id, human_input: 'The renewal date is not shown to our role. Ask the owner of the account.' });
  return id;
}
