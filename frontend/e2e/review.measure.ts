import { expect, resize, test } from './support/test';

// Prints how long a change of 20,000 lines takes to open, and the longest frame while it is scrolled to its end:
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
  const { frames, longest, late } = await app.page.evaluate(async () => {
    const scroll = document.querySelector('.rows')?.closest('.scroll');
    if (!scroll) throw new Error('nothing scrolls');
    const spans: number[] = [];
    let last = performance.now();
    for (let n = 0; n < 400; n++) {
      scroll.scrollTop += 1000;
      await new Promise((frame) => requestAnimationFrame(frame));
      const now = performance.now();
      spans.push(now - last);
      last = now;
    }
    return { frames: spans.length, longest: Math.max(...spans), late: spans.filter((span) => span > 50).length };
  });
  process.stdout.write(`20,000 changed lines: opened in ${Math.round(opened)} ms; ${frames} frames of scrolling 1,000 pixels each, the longest ${Math.round(longest)} ms, ${late} over 50 ms\n`);
});
