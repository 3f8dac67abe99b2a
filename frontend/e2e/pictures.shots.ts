import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { execFileSync } from 'node:child_process';
import { seedChats } from './support/chats';
import { Model } from './support/model';
import { seedPlans, seedRun } from './support/plans';
import { removable } from './support/retained';
import { Screen } from './support/screen';
import { boxed } from './support/boxes';
import { Home } from './support/home';
import { record, seed, visit } from './support/seeds';
import { Server, type Ring } from './support/server';
import { choose, Console, expect, mod, test } from './support/test';
import { browserPath, Vendor } from './support/vendor';

// Every view in both themes and both languages. SCREENSHOTS names another folder, SCREENSHOTS_ONLY a pattern of views' names.
// Those of the documents go there, too, but for where SCREENSHOTS is given and DESKBELL_PICTURES is not.
const folder = path.resolve(process.env.SCREENSHOTS ?? path.join(import.meta.dirname, '../screenshots'));
const documents = process.env.DESKBELL_PICTURES ?? (process.env.SCREENSHOTS ? '' : path.join(import.meta.dirname, '../../docs/images'));
const only = new RegExp(process.env.SCREENSHOTS_ONLY ?? '');
const themes = ['light', 'dark'] as const;
const languages = ['en', 'zh-CN'] as const;

interface View {
  name: string;
  /** What is done before the picture is taken, in a page that is signed in. */
  show: (app: Console, ids: Record<string, string>, screen: Screen, vendor: Vendor) => Promise<void>;
  size?: { width: number; height: number };
  /** On a server where nothing ever rang; or on one whose agents hand in plans. */
  fresh?: boolean;
  plans?: boolean;
  /** On a server with agents that one talks with. */
  chats?: boolean;
  /** On a server whose operator has clients installed; or on a phone. */
  clients?: boolean;
  phone?: boolean;
  /** A picture of the documents: light and English; 'both' has a dark Chinese one beside it. */
  docs?: boolean | 'both';
}

const operation = (name: string) => async (app: Console, ids: Record<string, string>) => app.openOperation(ids[name] ?? '');
const ended = (name: string) => async (app: Console, ids: Record<string, string>) => {
  await app.go(`inbox/${ids[name]}`);
  await expect(app.page.locator('#operation-title')).toBeVisible();
};
const settled = async (app: Console): Promise<void> => {
  await expect(app.page.getByRole('region').first()).toBeVisible();
  await app.page.waitForLoadState('networkidle');
};
const step = (n: number) => async (app: Console) => {
  for (let i = 1; i < n; i++) await app.press('Enter');
  await app.page.waitForLoadState('networkidle');
};

const look = async (app: Console): Promise<void> => {
  await expect(app.page.locator('.stage image')).toBeVisible();
  await app.page.waitForLoadState('networkidle');
};
/** Opens the latest recording, at a step with a click. */
const open = async (app: Console): Promise<void> => {
  const { recordings } = await app.server.operator.call<{ recordings: { recording_id: string }[] }>('GET', '/api/recordings');
  await app.go(`recordings/${recordings[0]?.recording_id}`);
  await expect(app.page.locator('[aria-current="step"]')).toBeVisible();
  await app.press('ArrowRight', 'ArrowRight');
  await look(app);
};

/** Work in a browser with its fields picked, one of them corrected by hand. */
const visited = async (app: Console, ids: Record<string, string>, screen: Screen, vendor: Vendor): Promise<void> => {
  ids.visit ??= await visit(app.server, screen, vendor);
  await app.openOperation(ids.visit);
  await expect(app.page.locator('li img')).toHaveCount(4);
  await app.page.getByRole('textbox', { name: 'used_this_month' }).fill('8,412,903');
  await app.page.getByRole('textbox', { name: 'used_this_month' }).blur();
};

/** Opens the findings of work that was recorded, once they are drafted and their pictures are there. */
const sift = async (app: Console, id: string): Promise<void> => {
  await app.go(`findings/${id}`);
  await expect(app.page.locator('.say').first()).toBeVisible();
  await app.armed();
  await app.page.waitForLoadState('networkidle');
};
/** Work in a browser that has been recorded to its end. */
const wentThrough = async (app: Console, ids: Record<string, string>, screen: Screen, vendor: Vendor): Promise<string> => {
  ids.visit ??= await visit(app.server, screen, vendor);
  const { current } = await app.server.operator.call<{ current: { recording_id: string } | null }>('GET', '/api/recorder');
  if (current) await app.server.operator.call('POST', `/api/recordings/${current.recording_id}/stop`, {});
  return ids.visit;
};
/** One finding is cut, one is being written. */
const putRight = async (app: Console): Promise<void> => {
  if ((await app.page.locator('.row.cut').count()) === 0) {
    await app.page.locator('.say').nth(5).focus();
    await app.press('x');
  }
  await app.page.locator('.say').nth(2).click();
};

/** Takes over what Mei sent, and changes more of it. */
const changed = async (app: Console, ids: Record<string, string>): Promise<void> => {
  await app.openOperation(ids.plan ?? '');
  if (!ids.changed) {
    ids.changed = 'yes'; // the draft stays
    await app.button(/^(Use this version|采用此版本)$/).dispatchEvent('click'); // what stands above it is not scrolled away
    await app.page.locator('[data-task="restore"] button.tt').focus();
    await app.press('Alt+ArrowUp');
  }
  await expect(app.page.locator('.bar-of .chip').first()).toBeVisible();
  await app.page.waitForLoadState('networkidle');
  // What the changes come to is known, and the draft is saved.
  await expect(app.page.locator('.plan .risky .t3')).toHaveCount(0);
  await expect(app.page.getByText(/^(Draft saved|草稿已保存)/).first()).toBeVisible();
};

/** Opens a client's side of the page. */
const client = async (app: Console, id: string): Promise<void> => {
  await app.go('agents');
  await app.page.locator(`[data-client="${id}"] .open`).click();
};

/** What retention would remove, in the settings; then the question before it is removed now. */
const retains = (asked = false) => async (app: Console): Promise<void> => {
  await app.page.route('**/api/retention/preview', (route) => route.fulfill({ json: removable }));
  await app.go('settings');
  const part = app.page.getByRole('region', { name: /^(What retention removes|将移除的内容)/ });
  await part.getByRole('button').first().evaluate((button) => button.scrollIntoView({ block: 'end' }));
  if (!asked) return;
  await part.getByRole('button').first().click();
  await expect(app.page.getByRole('dialog')).toBeVisible();
};
/** A request of which retention removed a file. */
const withoutFile = async (app: Console, ids: Record<string, string>): Promise<void> => {
  if (!ids.files) {
    const { server } = app;
    const bot = await server.agent('archive-bot');
    const files = await Promise.all(['before.txt', 'a-rather-long-name-of-a-report-of-all-invoices-2026-11.csv'].map(async (name) => {
      const response = await fetch(`${server.url}/api/attachments?name=${name}`, { method: 'POST', headers: { Authorization: `Bearer ${bot.secret}` }, body: `date,amount\n${name}\n` });
      return ((await response.json()) as { attachment_id: string }).attachment_id;
    }));
    ids.files = (await bot.ring({ action_type: 'feedback', description: 'Which of the two lists is right?', ...{ attachments: files } })).operation_id;
    await writeFile(path.join(server.dir, 'attachments', (files[0] ?? '').replace('att_', ''), 'removed'), '2026-11-20T12:00:00Z');
  }
  await app.openOperation(ids.files);
  await app.page.waitForLoadState('networkidle');
};
/** A recording that retention removed. */
const removedRecording = async (app: Console): Promise<void> => {
  await app.page.route(/\/api\/recordings\/rec_[^/]+$/, async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...((await response.json()) as object), removed_at: '2026-11-20T12:00:00Z' } });
  });
  const { recordings } = await app.server.operator.call<{ recordings: { recording_id: string }[] }>('GET', '/api/recordings');
  await app.go(`recordings/${recordings[0]?.recording_id}`);
  await expect(app.page.getByText(/by retention|按保留期限/).first()).toBeVisible();
};

function clientViews(): View[] {
  const connected = async (app: Console): Promise<void> => {
    await client(app, 'claude-code');
    const connect = app.button(/^(Connect|连接)$/);
    if (await connect.last().isVisible()) await app.page.locator('.panel footer .ink').click();
    await expect(app.page.locator('[data-client="claude-code"] .chip.green')).toBeVisible();
    await app.press('t');
    await expect(app.page.locator('[data-card]')).toBeVisible({ timeout: 40_000 });
    await app.page.waitForLoadState('networkidle');
  };
  const proved = async (app: Console): Promise<void> => {
    await client(app, 'claude-code');
    // What connecting wrote is shown to whoever connected.
    await app.press('u');
    await app.page.locator('.panel').getByRole('button', { name: /^(Connect|连接)$/ }).click();
    await expect(app.page.locator('[data-client="claude-code"] .chip.green')).toBeVisible();
    await app.press('t');
    const card = app.page.locator('[data-card]');
    await expect(card).toBeVisible({ timeout: 40_000 });
    await card.getByRole('button', { name: 'It works' }).click();
    await card.locator('.btn.ink').click();
    await expect(app.page.locator('.panel')).toContainText(/went back the same way|原路返回/, { timeout: 30_000 });
    await app.page.waitForLoadState('networkidle');
  };
  /** A call that is judged for a look, in a project that the gatekeeper knows, with the part that decides selected. */
const trial = (command: string): View['show'] => async (app, ids, screen) => {
  if (!ids.tried) {
    const root = path.join(screen.dir, 'shop');
    await mkdir(path.join(root, 'web'), { recursive: true });
    execFileSync('sh', ['-c', 'git init -q -b main && echo "*.map" > .gitignore && git add . && git -c user.name=Ada -c user.email=ada@example.org commit -qm First && touch web/a.map web/b.map'], { cwd: root });
    const agent = await app.server.agent('shop-agent');
    await agent.call('POST', '/api/gate/evaluate', { tool: 'Bash', args: { command: 'git status' }, cwd: root, root, session_id: 'shop', client: 'shop-agent' });
    await app.server.operator.call('POST', '/api/gate/rules', { rule_id: '', source: 'operator', matched: 0, decision: 'allow', command: 'npm ci', project: root });
    ids.tried = root;
  }
  await app.go('gatekeeper/try');
  if (!command) return;
  await app.page.getByRole('textbox', { name: 'Command' }).or(app.page.getByRole('textbox', { name: '命令' })).fill(command);
  await choose(app.page.getByRole('combobox', { name: /^(Project|项目)$/ }), ids.tried);
  await app.press(`${mod}+Enter`);
  await expect(app.page.getByRole('treegrid')).toBeVisible();
  await app.page.waitForLoadState('networkidle');
};
const longCommand = "cd web && env CI=1 npm ci && find . -name '*.map' -delete \\\n  && git push --force origin HEAD:main";

const views: View[] = [
  { name: 'gatekeeper', show: async (app, ids, screen, vendor) => trial('')(app, ids, screen, vendor).then(() => app.go('gatekeeper')).then(() => settled(app)) },
  { name: 'try', docs: true, size: { width: 1440, height: 900 }, show: trial(longCommand) },
  { name: 'try-empty', show: trial('') },
  { name: 'try-blocked', show: trial("ls -la; sudo env A=1 bash -c 'rm -rf /'") },
  { name: 'try-code', show: trial('python3 -c "import os; os.system(\'rm -rf x\')"') },
  { name: 'try-unparsed', show: trial('git status; echo $(rm -rf x') },
  { name: 'try-allowed', show: trial('git status && npm ci') },
  { name: 'middle-try', size: { width: 1000, height: 900 }, show: trial(longCommand) },
  { name: 'narrow-try', size: { width: 640, height: 1000 }, show: trial(longCommand) },
    { name: 'welcome-clients', docs: 'both', show: async (app) => { await app.go('welcome'); for (let i = 0; i < 2; i++) await app.page.locator('footer .btn.ink').click(); await expect(app.page.locator('[data-client="codex"]')).toBeVisible(); } },
    { name: 'agents-found', show: async (app) => client(app, 'codex') },
    { name: 'agents-narrow', size: { width: 640, height: 900 }, show: async (app) => client(app, 'codex') },
    { name: 'agents-test', show: connected },
    { name: 'agents-connected', docs: 'both', show: proved },
    { name: 'phone-code', size: { width: 1280, height: 900 }, show: async (app) => {
      await app.go('settings');
      const on = app.page.getByRole('switch', { name: /^(Allow phones on this network|允许此网络中的手机)$/ });
      await expect(on).toBeVisible();
      if (!(await on.isChecked())) await on.click();
      await app.button(/^(Show QR code|显示二维码)$/).click();
      await app.page.locator('img[width="208"]').scrollIntoViewIfNeeded();
    } },
  ];
  return views.map((view) => ({ ...view, clients: true }));
}

const phoneViews: View[] = [
  { name: 'phone-inbox', show: async (app: Console) => app.go('inbox') },
  { name: 'phone-request', show: operation('critical') },
  { name: 'phone-feedback', show: operation('feedback') },
  { name: 'phone-settings', show: async (app: Console) => app.go('settings').then(() => settled(app)) },
].map((view) => ({ ...view, phone: true, size: { width: 390, height: 844 } }));

function planViews(): View[] {
  const open = (name: string, more?: (app: Console) => Promise<void>): View['show'] => async (app, ids) => {
    await app.go(`inbox/${ids[name]}`);
    await expect(app.page.locator('#operation-title')).toBeVisible();
    await app.page.waitForLoadState('networkidle');
    await more?.(app);
  };
  const plansOnly = async (app: Console): Promise<void> => {
    await app.go('history');
    await settled(app);
    await app.button(/^(Plans|计划)$/).click();
    await expect(app.page.locator('#answers-title')).toBeVisible();
  };
  const views: View[] = [
    { name: 'plan-inbox', show: async (app) => app.go('inbox') },
    { name: 'plan-mild', show: open('mild', (app) => app.armed()) },
    { name: 'plan', docs: true, show: changed },
    { name: 'plan-picture', show: async (app, ids) => changed(app, ids).then(() => app.page.locator('details summary', { hasText: /^(What it would change|计划会更改的内容)/ }).click()) },
    { name: 'plan-edit', show: async (app, ids) => changed(app, ids).then(() => app.page.locator('[data-task="report"] button.tt').click()) },
    { name: 'plan-menu', show: async (app, ids) => changed(app, ids).then(async () => { await app.page.locator('[data-task="dump"] button.tt').focus(); await app.page.locator('[data-task="dump"] .row-menu button').click(); }) },
    { name: 'narrow-plan', size: { width: 640, height: 900 }, show: changed },
    { name: 'middle-plan', size: { width: 1000, height: 760 }, show: changed },
    { name: 'plan-popup', size: { width: 448, height: 800 }, show: async (app) => app.page.goto(`${app.server.url}/?view=popup#code=${(await app.server.invite()).code}`).then(() => app.page.waitForLoadState('networkidle')) },
    { name: 'plan-run', docs: true, show: open('runs') },
    { name: 'plan-rest', show: open('runs', (app) => app.button(/^(Change remaining tasks|修改剩余任务)/).click()) },
    { name: 'narrow-plan-run', size: { width: 640, height: 900 }, show: open('runs') },
    { name: 'plan-over', show: open('over') },
    { name: 'plan-over-end', show: open('over', (app) => app.page.locator('#confirmed-title').evaluate((title) => title.scrollIntoView())) },
    { name: 'narrow-plan-over', size: { width: 640, height: 900 }, show: open('over', (app) => app.page.locator('#confirmed-title').evaluate((title) => title.scrollIntoView())) },
    { name: 'plan-late', show: open('late') },
    { name: 'plan-history', show: plansOnly },
    { name: 'plan-history-changed', show: async (app) => plansOnly(app).then(async () => { await choose(app.page.getByRole('combobox').last(), 'modified'); await settled(app); }) },
    { name: 'plan-presets', show: async (app) => { await app.go('settings'); await settled(app); await app.page.locator('#presets-title').evaluate((title) => title.scrollIntoView()); } },
    { name: 'agent-runs', show: async (app) => app.go('agents/runs').then(() => settled(app)) },
    { name: 'agent-run', docs: true, show: async (app) => { await app.go('agents/run_01kb2r9q'); await expect(app.page.getByRole('log')).toContainText('sum.go'); } },
    { name: 'narrow-agent-run', size: { width: 640, height: 900 }, show: async (app) => { await app.go('agents/run_01kb2r9q'); await expect(app.page.getByRole('log')).toContainText('sum.go'); } },
  ];
  return views.map((view) => ({ ...view, plans: true }));
}

/** Conversations with agents, and a run that is begun. */
function chatViews(): View[] {
  const open = (name: string): View['show'] => async (app, ids) => {
    await app.go(`agents/${ids[name] ?? 'chat'}`);
    await expect(app.page.locator(ids[name] ? '.msg' : '[role="radio"], input[type="radio"]').first()).toBeVisible();
    await app.page.waitForLoadState('networkidle', { timeout: 2000 }).catch(() => undefined); // its journal is read along
  };
  const narrow = { width: 640, height: 900 };
  const views: View[] = [
    { name: 'chat-new', show: open('') },
    { name: 'chat-asks', show: open('asks') },
    { name: 'chat-dialogue', show: open('dialogue') },
    { name: 'chat-done', show: open('done') },
    { name: 'chat-failed', show: open('failed') },
    { name: 'chat-working', show: open('working') },
    { name: 'narrow-chat-new', size: narrow, show: open('') },
    { name: 'narrow-chat-done', size: narrow, show: open('done') },
    { name: 'run-new', show: async (app) => { await app.go('agents/runs'); await app.button(/^(New run|新建运行)/).click(); await expect(app.page.locator('dialog input[type="radio"]').first()).toBeVisible(); } },
  ];
  return views.map((view) => ({ ...view, chats: true }));
}

const source = (fresh: boolean): string => `import { Lock } from './lock';

export class Session {
${fresh ? '  readonly #lock = new Lock();\n' : ''}
  async token(): Promise<string> {
    if (this.expiresAt > ${fresh ? 'this.clock.now()' : 'Date.now()'}) return this.value;
${fresh ? `    return this.#lock.run(async () => {
      if (this.expiresAt > this.clock.now()) return this.value;
      return this.refresh();
    });` : `    this.value = await this.refresh();
    return this.value;`}
  }

${Array.from({ length: 24 }, (_, i) => `  step${i}(): number {\n    return ${i};\n  }\n`).join('\n')}
  private async refresh(): Promise<string> {
    const response = await fetch(${fresh ? 'this.options.url' : "'/token'"}, { method: 'POST' });
    return (await response.json()).token; // ${fresh ? 'the caller holds the lock' : 'no lock'}
  }
}
`;

/** Requests that are worked on in a view of their own. Each is made once. */
const bench = (name: string, work: (app: Console) => Ring, then: (app: Console, id: string) => Promise<void>): View['show'] => async (app, ids) => {
  if (!ids[name]) {
    ids[name] = (await (await app.server.agent('claude-code')).ring({ timeout: 0, session_id: 'web', ...work(app) })).operation_id;
    await app.server.operator.call('POST', '/api/human/claim', { operation_id: ids[name] });
  }
  await app.openOperation(ids[name] ?? '');
  await then(app, ids[name] ?? '');
  await app.page.waitForLoadState('networkidle');
};
const reviewed = bench('change', () => ({
  action_type: 'review', description: 'Refresh tokens under a lock\n\nTwo tabs could refresh at once.',
  details: {
    tests_passed: true, focus_areas: ['No double refresh under load', 'Lock is released when refresh throws'],
    files: [
      { path: 'src/auth/session.ts', before: source(false), after: source(true) },
      { path: 'src/auth/lock.ts', before: '', after: 'export class Lock {\n  async run<T>(task: () => Promise<T>): Promise<T> {\n    return task();\n  }\n}\n' },
      { path: 'docs/auth.md', before: '# Tokens\n\nThey are refreshed by each tab.\n', after: '# Tokens\n\nThey are refreshed by one tab at a time.\n' },
    ],
  },
}), async (app) => {
  await expect(app.page.locator('.rows .k').first()).toBeVisible();
  await app.page.locator('.rows').focus();
  await app.press('n', 'n', 'g');
  await app.page.keyboard.type('Say why it looks twice.');
});
const terminal = bench('unlock', (app) => ({
  action_type: 'bash', description: 'Unlock the state of the prod account',
  details: { required_action: 'Sign in, then remove the lock', why_agent_cant: 'The sign-in asks for a touch on a hardware key', command: ['echo signed in', 'rm -rf state/lock', 'ls state'], folder: app.server.dir, expected_outcome: 'No lock is left' },
}), async (app, id) => {
  const state = (): Promise<{ running?: boolean; commands: { exit_code?: number }[] }> => app.server.operator.call('GET', `/api/operations/${id}/terminal`);
  const had = await state();
  await expect(app.page.locator(had.running ? '.masked' : '.term').first()).toBeVisible();
  if (had.running) return;
  await app.button(/^(Open terminal|打开终端)$/).click();
  await expect(app.button(/^(Insert|插入)/).first()).toBeEnabled();
  await app.press('t');
  for (const [n, line] of ['echo signed in', '(exit 7)', 'ls'].entries()) {
    await app.page.keyboard.type(`${line}\n`);
    await expect.poll(async () => (await state()).commands[n]?.exit_code).not.toBeUndefined();
  }
  await app.page.keyboard.type("read -s -p 'Password: ' pw\n");
  await expect(app.page.locator('.masked')).toBeVisible();
});
const form = bench('form', () => ({
  action_type: 'feedback', description: 'Where should the new region go live?',
  details: { response_schema: { type: 'object', required: ['region', 'date'], properties: {
    region: { type: 'string', title: 'Region', enum: ['eu-central-1', 'eu-north-1', 'us-east-2'], description: 'Where most of the customers are' },
    date: { type: 'string', format: 'date', title: 'Day' }, replicas: { type: 'integer', title: 'Replicas', minimum: 1, maximum: 9, default: 3 },
    notify: { type: 'boolean', title: 'Tell the customers', default: true }, owner: { type: 'string', format: 'email', title: 'Owner' },
  } } },
}), async () => undefined);
const boxResult = bench('box', () => ({ action_type: 'box', description: 'npm run codegen wrote 5 files', details: boxed, timeout: 540 }), async (app) => {
  await app.press('n');
});
/** A command that deletes files which are in no commit. */
const permission: View['show'] = async (app, ids, screen) => {
  if (!ids.permission) {
    const root = path.join(screen.dir, 'api-server');
    await mkdir(path.join(root, 'fixtures'), { recursive: true });
    await mkdir(path.join(root, 'build'));
    execFileSync('sh', ['-c', 'git init -q -b main && echo build/ > .gitignore && git add . && git -c user.name=Ada -c user.email=ada@example.org commit -qm First && touch build/1 build/2 build/3 fixtures/one fixtures/two'], { cwd: root });
    const asked = await (await app.server.agent('claude-code')).call<{ operation_id: string }>('POST', '/api/gate/evaluate', { tool: 'Bash', args: { command: 'rm -rf build fixtures' }, cwd: root, session_id: 'api-server', client: 'claude-code' });
    ids.permission = asked.operation_id;
  }
  await app.openOperation(ids.permission);
  await app.page.waitForLoadState('networkidle');
};

const views: View[] = [
  { name: 'inbox', show: async (app) => app.go('inbox') },
  ...['approve', 'critical', 'low', 'feedback', 'desktop', 'browser', 'review', 'bash'].map((name) => ({ name, show: operation(name) })),
  { name: 'box', show: boxResult },
  { name: 'narrow-box', size: { width: 640, height: 800 }, show: boxResult },
  ...['answered', 'declined', 'withdrawn'].map((name) => ({ name, show: ended(name) })),
  { name: 'popup', size: { width: 448, height: 800 }, show: async (app) => app.page.goto(`${app.server.url}/?view=popup#code=${(await app.server.invite()).code}`).then(() => app.page.waitForLoadState('networkidle')) },
  { name: 'history', show: async (app) => app.go('history').then(() => settled(app)) },
  {
    name: 'history-search',
    show: async (app) => {
      await app.go('history');
      await app.page.getByRole('searchbox').fill('rollback');
      await expect(app.page.locator('mark').first()).toBeVisible();
    },
  },
  { name: 'agents', show: async (app) => app.go('agents').then(() => settled(app)) },
  {
    name: 'agents-key',
    show: async (app) => {
      await app.go('agents/keys');
      const field = app.page.getByPlaceholder('release-bot');
      await field.fill('deploy-bot');
      await field.press('Enter');
      await expect(app.page.getByText(/^dbk_/).first()).toBeVisible();
    },
  },
  { name: 'settings', show: async (app) => app.go('settings').then(() => settled(app)) },
  {
    name: 'settings-end',
    show: async (app) => {
      await app.go('settings');
      await settled(app);
      await app.page.getByRole('region').first().evaluate((element) => (element.scrollTop = element.scrollHeight));
    },
  },
  { name: 'palette', show: async (app, ids) => app.openOperation(ids.approve ?? '').then(() => app.press(`${mod}+k`)) },
  { name: 'keys', show: async (app, ids) => app.openOperation(ids.approve ?? '').then(() => app.press('?')).then(() => expect(app.page.getByRole('dialog')).toBeVisible()) },
  { name: 'snooze', show: async (app, ids) => app.openOperation(ids.approve ?? '').then(() => app.press('s')) },
  { name: 'reason', show: async (app, ids) => app.openOperation(ids.bash ?? '').then(() => app.press('d')) },
  {
    name: 'batch',
    show: async (app, ids) => {
      await app.go('inbox');
      for (const name of ['low', 'critical', 'approve']) await app.row(ids[name] ?? '').getByRole('checkbox').check({ force: true });
      await app.armed();
    },
  },
  {
    name: 'signin',
    show: async (app) => {
      await app.page.evaluate(() => window.addEventListener('pagehide', () => window.sessionStorage.clear()));
      await app.page.goto(`${app.server.url}/#code=USED1-CODE2`);
      await app.page.reload();
      await expect(app.page.getByRole('textbox')).toBeVisible();
    },
  },
  { name: 'narrow-inbox', size: { width: 640, height: 800 }, show: async (app) => app.go('inbox') },
  { name: 'narrow-approve', size: { width: 640, height: 800 }, show: operation('approve') },
  { name: 'narrow-history', size: { width: 640, height: 800 }, show: async (app) => app.go('history').then(() => settled(app)) },
  { name: 'narrow-settings', size: { width: 640, height: 800 }, show: async (app) => app.go('settings').then(() => settled(app)) },
  { name: 'middle-approve', size: { width: 1000, height: 760 }, show: operation('approve') },
  { name: 'wide-approve', size: { width: 1920, height: 1080 }, show: operation('approve') },
  {
    name: 'recorded',
    show: async (app, ids, screen) => {
      ids.recorded ??= await record(app.server, screen, true);
      await app.openOperation(ids.recorded);
      await expect(app.page.locator('#findings-title + .go .lines')).toBeVisible();
      await app.page.locator('#findings-title').evaluate((title) => title.scrollIntoView());
    },
  },
  { name: 'desktop-findings', show: async (app, ids, screen) => sift(app, (ids.recorded ??= await record(app.server, screen, true))) },
  { name: 'recording', show: async (app) => open(app) },
  { name: 'recording-mask', show: async (app) => open(app).then(() => app.button(/Mask an area|遮蔽区域/).click()) },
  { name: 'recordings', show: async (app) => app.go('recordings').then(() => settled(app)) },
  { name: 'narrow-recording', size: { width: 640, height: 800 }, show: async (app) => open(app) },
  {
    name: 'browser-options',
    show: async (app, ids) => {
      await app.openOperation(ids.browser ?? '');
      await app.button(/^(Options|选项)$/).click();
      await app.page.getByRole('switch', { name: /^(Page replay|页面回放)/ }).check();
    },
  },
  { name: 'browser-records', docs: true, show: async (app, ids, screen, vendor) => visited(app, ids, screen, vendor) },
  { name: 'narrow-browser-records', size: { width: 640, height: 800 }, show: async (app, ids, screen, vendor) => visited(app, ids, screen, vendor) },
  {
    name: 'browser-waits',
    show: async (app, ids, screen, vendor) => {
      await visited(app, ids, screen, vendor);
      await app.press('p');
      await expect(app.page.locator('.waiting')).toBeVisible();
    },
  },
  {
    name: 'browser-recorded',
    show: async (app, ids, screen, vendor) => {
      await visited(app, ids, screen, vendor);
      await app.press(`${mod}+.`);
      await expect(app.page.locator('#findings-title + .go .lines')).toBeVisible();
    },
  },
  { name: 'findings', docs: true, show: async (app, ids, screen, vendor) => sift(app, await wentThrough(app, ids, screen, vendor)).then(() => putRight(app)) },
  { name: 'middle-findings', size: { width: 1000, height: 760 }, show: async (app, ids, screen, vendor) => sift(app, await wentThrough(app, ids, screen, vendor)) },
  { name: 'narrow-findings', size: { width: 720, height: 800 }, show: async (app, ids, screen, vendor) => sift(app, await wentThrough(app, ids, screen, vendor)) },
  {
    name: 'narrow-findings-leaving', size: { width: 720, height: 800 },
    show: async (app, ids, screen, vendor) => {
      await sift(app, await wentThrough(app, ids, screen, vendor));
      await app.page.locator('#find-leaving').evaluate((title) => title.scrollIntoView());
    },
  },
  {
    name: 'findings-beside',
    show: async (app, ids, screen, vendor) => {
      await sift(app, await wentThrough(app, ids, screen, vendor));
      await choose(app.page.getByLabel(/^(Summarizer|摘要器)$/), 'joined');
      await expect(app.page.locator('.beside li').first()).toBeVisible();
      await app.page.waitForLoadState('networkidle');
    },
  },
  { name: 'browser-recording', show: async (app) => open(app) },
  {
    name: 'browser-replay',
    show: async (app) => {
      await open(app);
      await app.button(/^(Show page replay|查看页面回放)$/).click();
      await expect(app.page.getByRole('slider')).toBeEnabled();
      await app.page.getByRole('slider').focus();
      await app.press('End');
      await expect(app.page.frameLocator('.replayer-wrapper iframe').locator('#said')).toHaveText('Asked');
    },
  },
  {
    name: 'browser-answered',
    show: async (app, ids, screen, vendor) => {
      await sift(app, await wentThrough(app, ids, screen, vendor));
      await app.press(`${mod}+Enter`);
      await expect(app.page.locator('[aria-label^="Show evidence"] img, [aria-label$="的依据"] img').first()).toBeVisible();
      await app.page.waitForLoadState('networkidle');
    },
  },
  { name: 'work-review', docs: true, size: { width: 1440, height: 900 }, show: reviewed },
  { name: 'narrow-work-review', size: { width: 720, height: 900 }, show: reviewed },
  { name: 'work-terminal', docs: 'both', show: terminal },
  { name: 'narrow-work-terminal', size: { width: 640, height: 800 }, show: terminal },
  { name: 'work-form', show: form },
  { name: 'permission', docs: true, size: { width: 1280, height: 900 }, show: permission },
  { name: 'statistics', show: async (app) => app.go('history/statistics').then(() => settled(app)) },
  { name: 'palette-search', show: async (app) => { await app.go('inbox'); await app.press(`${mod}+k`); await app.page.keyboard.type('lock'); await app.page.waitForLoadState('networkidle'); } },
  { name: 'retention', show: retains() },
  { name: 'retention-question', show: retains(true) },
  { name: 'narrow-retention', size: { width: 640, height: 800 }, show: retains() },
  { name: 'removed-file', show: withoutFile },
  { name: 'narrow-removed-file', size: { width: 640, height: 800 }, show: withoutFile },
  { name: 'removed-recording', show: removedRecording },
  ...planViews(),
  ...chatViews(),
  ...clientViews(),
  ...phoneViews,
  { name: 'recordings-empty', fresh: true, show: async (app) => app.go('recordings').then(() => settled(app)) },
  // Last, because from here on something is recorded.
  {
    name: 'records',
    show: async (app, ids, screen) => {
      ids.records ??= await record(app.server, screen, false);
      await app.openOperation(ids.records);
      await expect(app.page.locator('figure image').nth(2)).toBeVisible();
      await app.page.waitForLoadState('networkidle');
    },
  },
  {
    name: 'strip', size: { width: 320, height: 44 },
    show: async (app, ids, screen) => {
      ids.records ??= await record(app.server, screen, false);
      await app.page.goto(`${app.server.url}/?view=recorder#code=${(await app.server.invite()).code}`);
      await expect(app.page.getByRole('group')).toBeVisible();
    },
  },
  { name: 'welcome-1', fresh: true, show: step(1) },
  { name: 'welcome-2', fresh: true, show: step(2) },
  { name: 'welcome-3', fresh: true, show: step(3) },
  { name: 'welcome-4', fresh: true, show: step(4) },
  { name: 'welcome-5', fresh: true, show: step(5) },
  { name: 'empty', fresh: true, show: async (app) => app.go('inbox').then(() => app.page.waitForLoadState('networkidle')) },
  { name: 'history-empty', fresh: true, show: async (app) => app.go('history').then(() => settled(app)) },
  { name: 'agents-empty', fresh: true, show: async (app) => app.go('agents').then(() => settled(app)) },
];

async function picture(page: Page, name: string): Promise<string> {
  // The pointer would leave a hover behind.
  await page.mouse.move(0, 0);
  const file = path.join(folder, `${name}.png`);
  await page.screenshot({ path: file, animations: 'disabled', caret: 'hide' });
  return file;
}

/** Puts a picture into the documents, with as few colours as a drawn page needs. */
function publish(file: string): void {
  execFileSync('convert', [file, '-strip', '+dither', '-colors', '256', '-define', 'png:compression-level=9', `png8:${path.join(path.resolve(documents), path.basename(file))}`]);
}

for (const theme of themes) {
  for (const language of languages) {
    test(`pictures ${theme} ${language}`, async ({ browser }) => {
      await mkdir(folder, { recursive: true });
      const screen = await Screen.start();
      const vendor = await Vendor.start();
      const busy = await Server.start([], { ...screen.env, HOME: screen.dir, DESKBELL_RECORDING_BROWSER_PATH: await browserPath(screen) });
      const fresh = await Server.start();
      const planned = await Server.start();
      const home = await Home.make();
      const homely = await home.serve(['--set', 'phone.addr=127.0.0.1:0'], true);
      const run = await seedRun(planned);
      const model = await Model.start();
      const talking = await model.serve([], { HOME: home.dir });
      try {
        const ids = { ...(await seed(busy)), ...(await seedPlans(planned)), ...(await seedChats(talking, model)) };
        for (const view of views.filter((v) => only.test(v.name))) {
          const context = await browser.newContext({ colorScheme: theme, locale: language, viewport: view.size ?? { width: 1280, height: 800 }, hasTouch: view.phone, isMobile: view.phone });
          const app = new Console(await context.newPage(), view.fresh ? fresh : view.plans ? planned : view.chats ? talking : view.clients ? homely : busy);
          await app.page.goto((await app.server.invite()).console);
          await expect(app.page.locator('nav, aside ol').first()).toBeVisible();
          await view.show(app, ids, screen, vendor);
          const file = await picture(app.page, `${view.name}-${theme}-${language}`);
          const shown = theme === 'light' ? language === 'en' && view.docs : language === 'zh-CN' && view.docs === 'both';
          if (shown && documents) publish(file);
          await context.close();
        }
      } finally {
        await run.die();
        await homely.end();
        await home.end();
        await planned.end();
        await talking.end();
        model.end();
        await busy.end();
        await fresh.end();
        await vendor.end();
        await screen.end();
      }
    });
  }
}
