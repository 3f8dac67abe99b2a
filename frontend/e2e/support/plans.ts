import path from 'node:path';
import { Journal } from './journal';
import type { Caller, Server } from './server';

export interface Task {
  id?: string;
  description: string;
  tool_name?: string;
  type?: string;
  priority?: number;
  expected_outcome?: string;
  args?: object;
}

const shell = (id: string, description: string, command: string, expected_outcome?: string): Task => ({ id, description, tool_name: 'bash', args: { command }, expected_outcome });

const move: Task[] = [
  shell('dump', 'Dump billing from Postgres 15', 'pg_dump -Fc billing -f billing.dump', 'A dump of about 41 GB that restores cleanly'),
  { id: 'lock', description: 'Set billing read-only', tool_name: 'psql', expected_outcome: 'Writes fail, reads go on', args: { sql: 'ALTER DATABASE billing SET default_transaction_read_only = on' } },
  shell('restore', 'Restore the dump into Postgres 17', 'pg_restore -d billing17 billing.dump', 'Same counts as before'),
  shell('switch', 'Switch the connection string everywhere', 'vault kv put secret/billing url=postgres://pg17/billing', 'Health checks green within 60 s'),
  shell('drop', 'Drop the old cluster', 'rm -rf /var/lib/postgresql/15/billing', 'Cluster billing-15 is gone'),
  { id: 'report', description: 'Report timings and row counts', tool_name: 'write_file', type: 'report', priority: 2, expected_outcome: 'A note of one page', args: { path: 'report.md' } },
];

/** Answers a plan, as it stands now. */
export async function respondTo<T>(me: Caller, session: string, body: object): Promise<T> {
  const { operation_id: id } = await me.call<{ operation_id: string }>('GET', `/api/plans/${session}`);
  const { digest } = await me.call<{ digest: string }>('GET', `/api/human/operations/${id}`);
  return me.call('POST', `/api/plans/${session}/response`, { digest, ...body });
}

/** A server with plans of several agents. The ids are by the short names used here. */
export async function seedPlans(server: Server): Promise<Record<string, string>> {
  const ids: Record<string, string> = {};
  const me = server.operator;
  const agent = await server.agent('migrator');
  await me.call('PUT', '/api/settings', { 'plan.confirm_by_human': true, 'plan.auto_confirm_safe_tasks': true });
  const submit = async (name: string, message: string, tasks: Task[], more: object = {}): Promise<string> => {
    const { operation_id: id } = await agent.call<{ operation_id: string }>('POST', '/api/plans', { session_id: name, message, tasks, context: { cwd: '/srv/billing' }, ...more });
    ids[name] = id;
    return id;
  };
  const answer = (name: string, body: object): Promise<unknown> => respondTo(me, name, body);
  const progress = async (name: string, task: string, state: string, note?: string): Promise<void> => {
    await agent.call('POST', `/api/plans/${name}/progress`, { task_id: task, state, ...(note && { note }) });
  };
  const ran = async (name: string, ...tasks: string[]): Promise<void> => {
    for (const task of tasks) for (const state of ['running', 'done']) await progress(name, task, state);
  };
  const test = { description: 'Restore the dump on a scratch server and count rows', tool_name: 'bash', args: { command: 'pg_restore -d scratch billing.dump' }, expected_outcome: 'All 63 tables equal' };
  await me.call('POST', '/api/plan-presets', { name: 'Database move', about: 'Before a database moves', tasks: [test, { description: 'Tell #billing', tool_name: 'slack' }] });

  // What was decided before.
  for (const name of ['orders', 'invoices']) {
    await submit(name, `Move the ${name} database to Postgres 17`, move.map((task) => ({ ...task })));
    await answer(name, { action: 'modify', modified_tasks: [move[0], test, ...move.slice(1, 4), move[5]], user_message: 'Test the restore first, and keep the old cluster' });
    await ran(name, 'dump', 'lock', 'restore', 'switch', 'report');
  }
  await submit('no', 'Move the audit database to Postgres 17', move);
  await answer('no', { action: 'cancel', user_message: 'Not while the release is under way' });
  await submit('late', 'Clear the caches of the gateway', [shell('a', 'Clear the caches', 'redis-cli -h gateway FLUSHALL')], { timeout_seconds: 1 });
  await submit('safe', 'Look at what fills the disk', [shell('a', 'List the folders', 'du -sh /srv')]);
  await me.until(ids.late ?? '', (op) => op.state === 'cancelled');

  // What was changed, in every way there is.
  await submit('over', 'Move the accounts database to Postgres 17', move);
  await answer('over', {
    action: 'modify', user_message: 'Only for eu, and the old cluster stays for a week', moved: ['report'],
    modified_tasks: [move[0], test, move[5], { ...move[3], description: 'Switch the connection string for accounts-eu only' }, { ...move[1], description: 'Set accounts read-only' }],
  });
  await progress('over', 'dump', 'running');
  await progress('over', 'dump', 'done', '41.2 GB in 63 tables');
  await progress('over', 't1', 'running');
  await progress('over', 't1', 'failed', 'The scratch server is out of disk: 12 GB are missing');
  await me.call('POST', '/api/plans/over/orders', { order: 'stop', text: 'I make room first' });

  // What runs.
  await submit('runs', 'Rename the orders table', [
    shell('dump', 'Dump the orders table', 'pg_dump -t orders billing -f orders.sql'), shell('copy', 'Rename it on a copy', "psql copy -c 'ALTER TABLE orders RENAME TO purchases'", 'The tests pass on the copy'),
    shell('rename', 'Rename it in billing', "psql billing -c 'ALTER TABLE orders RENAME TO purchases'", 'The service is up'), shell('view', 'Leave a view under the old name', "psql billing -c 'CREATE VIEW orders AS SELECT * FROM purchases'"), shell('tell', 'Tell #billing', 'notify billing'),
  ]);
  await answer('runs', { action: 'confirm' });
  await progress('runs', 'dump', 'running');
  await progress('runs', 'dump', 'done', '1.4 GB, 8,120,334 rows');
  await progress('runs', 'copy', 'running');
  await me.call('POST', '/api/plans/runs/orders', { order: 'skip', task_id: 'tell', text: 'I tell them myself' });

  // What waits.
  await submit('mild', 'Find out why the nightly report is late', [
    shell('log', 'Read the log of last night', 'tail -n 500 report.log', 'The slow step is known'), shell('count', 'Count the rows it reads', 'wc -l orders.csv'), { id: 'say', description: 'Say what was found', type: 'summary' },
  ]);
  await submit('plan', 'Move the billing database to Postgres 17', move, { confirmations: 2, operators: ['Mei'], timeout_seconds: 158 });
  const mei = await server.signIn((await me.call<{ code: string }>('POST', '/api/session/codes?operator=Mei', {})).code);
  await respondTo(mei, 'plan', { action: 'modify', modified_tasks: [move[0], test, ...move.slice(1, 4), move[5]], user_message: 'The old cluster stays for a week' });
  return ids;
}

/** A run of the reference agent, in the middle of its work. */
export async function seedRun(server: Server): Promise<Journal> {
  const run = new Journal(path.join(server.dir, 'agents'), 'run_01kb2r9q');
  const tasks = [{ id: 't1', description: 'Find the failing test', tool_name: 'shell' }, { id: 't2', description: 'Fix the code that it tests', tool_name: 'edit_file' }, { id: 't3', description: 'Run the tests again', tool_name: 'shell' }];
  await run.begin('The tests fail. Find out why, and fix it.');
  await run.tell({ state: 'reasoning', content: 'Looking at the folder' });
  await run.tell({ type: 'confirmation_request', state: 'awaiting_confirmation', content: 'A plan of 3 tasks waits to be confirmed' });
  await run.tell({ type: 'task_plan', state: 'executing', content: 'Confirmed', plan: { status: 'confirmed', by: 'mei', tasks } });
  await run.tell({ type: 'task_init', task_id: 't1', tool: 'shell', content: 'Find the failing test' });
  await run.tell({ task_id: 't1', tool: 'shell', call: 'go test ./...', outcome: 'failed', content: 'FAIL: TestSum: 2 + 2 is 5' });
  await run.tell({ type: 'sub_task_result', task_id: 't1', tool: 'shell', outcome: 'done', content: 'TestSum fails: Sum adds one too many', spent: { steps: 1, tokens_in: 4_100, tokens_out: 260, time_ns: 9e9, money: 0.04 } });
  await run.tell({ type: 'task_init', task_id: 't2', tool: 'edit_file', content: 'Fix the code that it tests' });
  await run.tell({ task_id: 't2', tool: 'shell', call: 'git checkout -- .', outcome: 'refused', content: 'refused: it would throw away what is not committed' });
  await run.tell({ task_id: 't2', tool: 'edit_file', call: 'sum.go', outcome: 'done', content: '1 replacement', spent: { steps: 3, tokens_in: 12_400, tokens_out: 830, time_ns: 42e9, money: 0.12 } });
  return run;
}
