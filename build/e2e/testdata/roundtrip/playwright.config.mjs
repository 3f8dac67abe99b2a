import { defineConfig } from '@playwright/test';

// A worker that comes after one whose test failed has a port of its own.
const port = Number(process.env.ROUNDTRIP_PORT) + Number(process.env.TEST_WORKER_INDEX ?? 0);
process.env.ROUNDTRIP_DEBUGGER = `http://127.0.0.1:${port}`;

export default defineConfig({
  testDir: process.env.ROUNDTRIP_TESTS,
  tsconfig: './tsconfig.json',
  outputDir: process.env.ROUNDTRIP_TESTS + '/results',
  workers: 1,
  retries: 0,
  timeout: 40000,
  reporter: [['line']],
  use: {
    actionTimeout: 8000,
    navigationTimeout: 8000,
    locale: 'en-US',
    launchOptions: {
      executablePath: process.env.ROUNDTRIP_BROWSER,
      args: [`--remote-debugging-port=${port}`, '--force-device-scale-factor=1'],
    },
  },
});
