import { expect, resize, test } from './support/test';

interface Seen {
  /** Milliseconds from a key to its echo on the screen. */
  echoes: number[];
  bytes: number;
}
declare global {
  interface Window {
    deskbellSeen: Seen;
    deskbellPressed: number[];
  }
}

// Prints how long a key takes to its echo while a program prints 50 MB:
// npx playwright test --project=measure terminal
test('keys while 50 MB are printed', async ({ app, server, bot }) => {
  test.setTimeout(300_000);
  const { page } = app;
  // A key is echoed where its letter comes in the output, and drawn once the page has acknowledged that many bytes.
  await page.addInitScript(() => {
    const seen: Seen = (window.deskbellSeen = { echoes: [], bytes: 0 });
    const pressed: number[] = (window.deskbellPressed = []);
    const waiting: { at: number; pressed: number }[] = [];
    let drawn = 0;
    const Real = WebSocket;
    window.WebSocket = class extends Real {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        if (!String(url).endsWith('/terminal/socket')) return;
        this.addEventListener('message', ({ data }: MessageEvent<string | ArrayBuffer>) => {
          if (typeof data === 'string') return;
          const bytes = new Uint8Array(data);
          bytes.forEach((byte, i) => {
            if (byte !== 0x51) return;
            const at = pressed.shift();
            if (at !== undefined) waiting.push({ at: seen.bytes + i, pressed: at });
          });
          seen.bytes += bytes.length;
        });
      }

      override send(data: string | ArrayBufferLike | Blob | ArrayBufferView): void {
        super.send(data);
        if (typeof data !== 'string') {
          if (data instanceof Uint8Array && data.length === 1 && data[0] === 0x51) pressed.push(performance.now());
          return;
        }
        const message = JSON.parse(data) as { type: string; bytes?: number };
        if (message.type === 'ack') drawn += message.bytes ?? 0;
        for (let next = waiting[0]; next && next.at < drawn; next = waiting[0]) {
          seen.echoes.push(performance.now() - next.pressed);
          waiting.shift();
        }
      }
    };
  });
  const op = await bot.ring({ action_type: 'bash', description: 'Print much', timeout: 3600, details: { command: ['true'], folder: server.dir } });
  await resize(page, 1440, 900);
  await app.open();
  await app.openOperation(op.operation_id);
  await app.button('Claim and open terminal').click();
  await expect(app.button('Insert').first()).toBeEnabled();
  await page.keyboard.press('t');
  await page.keyboard.type("head -c 50000000 /dev/zero | tr '\\0' x | fold -w 95; tput cr\n");
  const begun = Date.now();
  await expect.poll(() => page.evaluate(() => window.deskbellSeen.bytes), { timeout: 60_000 }).toBeGreaterThan(1_000_000);
  for (let n = 0; n < 400 && (await page.evaluate(() => window.deskbellSeen.bytes)) < 50_000_000; n++) {
    await page.keyboard.press('Q');
    await page.waitForTimeout(30);
  }
  await expect.poll(() => page.evaluate(() => window.deskbellSeen.bytes), { timeout: 240_000 }).toBeGreaterThan(50_000_000);
  const took = (Date.now() - begun) / 1000;
  const all = (await page.evaluate(() => window.deskbellSeen.echoes)).toSorted((a, b) => a - b);
  const at = (share: number): number => Math.round(all[Math.min(all.length - 1, Math.floor(all.length * share))] ?? 0);
  expect(all.length).toBeGreaterThan(20);
  process.stdout.write(`50 MB in ${took.toFixed(1)} s; ${all.length} keys meanwhile, to their echo on the screen: median ${at(0.5)} ms, p99 ${at(0.99)} ms, longest ${at(1)} ms\n`);
});
