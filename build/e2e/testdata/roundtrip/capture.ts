// What exported tests get for '@playwright/test': the real thing, and when a test has ended, while its pages are
// still open, what stands there is asked for. What the recording does not hold is in ROUNDTRIP_GIVEN, by test.
import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { test as base } from 'playwright/test';

export * from 'playwright/test';

export const test = base.extend<{ captured: void }>({
  captured: [
    async ({ context }, use, info) => {
      const name = basename(info.file, '.spec.ts');
      const given = JSON.parse(readFileSync(process.env.ROUNDTRIP_GIVEN!, 'utf8'))[name] ?? {};
      Object.assign(process.env, given);
      await use();
      for (const key of Object.keys(given)) delete process.env[key];
      const version = await (await fetch(process.env.ROUNDTRIP_DEBUGGER + '/json/version')).json();
      const error = info.errors.map((e) => e.stack ?? e.message ?? '').join('\n');
      const runner = 'playwright';
      await fetch(process.env.ROUNDTRIP_CAPTURE!, { method: 'POST', body: JSON.stringify({ runner, name, error, browser: version.webSocketDebuggerUrl }) });
      void context; // its pages are open until after this
    },
    { auto: true },
  ],
});
