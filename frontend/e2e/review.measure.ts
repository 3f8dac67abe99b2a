import { expect, resize, test } from './support/test';

// Prints how long a change of 20,000 lines takes to open, and the frames while it is scrolled to its end. What they take besides
// the page's thread is drawing, which a machine without a graphics card does in software:
// npx playwright test --project=measure
test('a change of 20,000 lines', async ({ app, bot }) => {
  const files = 40;
  const each = 250;
  const diff = Array.from({ length: files }, (_, f) => {
    const lines = Array.from({ length: each }, (_unused, i) => `-  const value${i} = old(${i});\n+  const value${i} = read(${i}, "new");`).join('\n');
    return `diff --git a/src/part${f % 8}/file${f}.ts b/src/part${f % 8}/file${f}.ts\n--- a/src/part${f % 8}/file${f}.ts\n+++ b/src/part${f % 8}/file${f}.ts\n@@ -1,${each} +1,${each} @@\n${lines}\n`;
  }).join('');
  const op = await bot.ring({ action_type: 'review', description: 'Twenty thousand lines', details: { diff } });
  const small = await bot.ring({ action_type: 'review', description: 'One line', details: { diff: '--- a/a.ts\n+++ b/a.ts\n@@ -1 +1 @@\n-a\n+b\n' } });
  await resize(app.page, 1440, 900);
  await app.open();
  await app.openOperation(small.operation_id);
  const opened = await app.page.evaluate(async (id) => {
    const begun = performance.now();
    window.location.hash = `#/inbox/${id}`;
    const drawn = (): boolean => (document.querySelector('.rows')?.textContent ?? '').includes('value20');
    while (!drawn()) await new Promise((frame) => requestAnimationFrame(frame));
    return performance.now() - begun;
  }, op.operation_id);
  await expect(app.page.getByText('Twenty thousand lines').first()).toBeVisible();
  const cdp = await app.page.context().newCDPSession(app.page);
  await cdp.send('Performance.enable');
  const spent = async (): Promise<Record<string, number>> => Object.fromEntries((await cdp.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value * 1000]));
  const before = await spent();
  const spans = await app.page.evaluate(async () => {
    const scroll = document.querySelector('.rows')?.closest('.scroll');
    if (!scroll) throw new Error('nothing scrolls');
    const all: number[] = [];
    let last = performance.now();
    for (let n = 0; n < 400; n++) {
      scroll.scrollTop += 1000;
      await new Promise((frame) => requestAnimationFrame(frame));
      const now = performance.now();
      all.push(now - last);
      last = now;
    }
    return all.toSorted((a, b) => a - b);
  });
  const after = await spent();
  const perFrame = (name: string): string => (((after[name] ?? 0) - (before[name] ?? 0)) / spans.length).toFixed(1);
  const at = (share: number): number => Math.round(spans[Math.floor((spans.length - 1) * share)] ?? 0);
  process.stdout.write(`20,000 changed lines: opened in ${Math.round(opened)} ms; ${spans.length} frames of scrolling 1,000 pixels each: median ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms, ${spans.filter((span) => span > 50).length} over 50 ms; of the page's thread per frame ${perFrame('ScriptDuration')} ms script, ${perFrame('RecalcStyleDuration')} ms style, ${perFrame('LayoutDuration')} ms layout, ${perFrame('TaskDuration')} ms in all\n`);
  await expect(app.page.locator('.rows .mark').first()).toBeVisible();
});
