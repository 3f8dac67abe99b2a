import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';
import { fonts } from './e2e/support/screen';

// Of Chromium's builds the one without a screen takes a third less; not every system has it as a package.
const headless = '/usr/bin/chromium-headless-shell';

/** Real pages in a real Chromium against the real server. Each test starts a server of its own, on a free port. */
export default defineConfig({
  testDir: './e2e',
  outputDir: './test-results',
  fullyParallel: true,
  workers: Number(process.env.E2E_WORKERS ?? 2),
  forbidOnly: !!process.env.CI,
  // On a shared machine a test that fails is run once more, with a trace. The run fails all the same (support/flaky.ts).
  retries: process.env.CI ? 1 : 0,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list'], ['./e2e/support/flaky.ts']],
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
    contextOptions: { reducedMotion: 'reduce' },
    trace: 'on-first-retry',
    launchOptions: {
      env: { ...process.env, FONTCONFIG_FILE: fonts, LANG: 'C.UTF-8' },
      executablePath: process.env.CHROMIUM ?? (existsSync(headless) ? headless : '/usr/bin/chromium'),
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    },
  },
  projects: [
    { name: 'e2e', testMatch: '**/*.e2e.ts' },
    { name: 'measure', testMatch: '**/*.measure.ts', workers: 1, timeout: 300_000 },
    { name: 'screenshots', testMatch: '**/*.shots.ts', workers: 1, timeout: 900_000 },
  ],
});
