// Plays user flows with @puppeteer/replay, each in a clean profile of one browser, and says what came of each.
// The first argument is a JSON file: {browser, capture, flows: [{name, file}]}. What stands in the end is asked of
// the address capture while the pages are still open.
import { readFileSync } from 'node:fs';
import { createRunner, PuppeteerRunnerExtension } from '@puppeteer/replay';
import puppeteer from 'puppeteer';

const { browser: executablePath, capture, flows } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
process.on('unhandledRejection', (e) => console.error('unhandled:', e)); // the runner leaves some behind when it fails
let browser;
for (const { name, file } of flows) {
  let error = '';
  try {
    browser ??= await puppeteer.launch({ executablePath, headless: true, defaultViewport: null, args: ['--lang=en-US', '--force-device-scale-factor=1'] });
    const profile = await browser.createBrowserContext();
    const page = await profile.newPage();
    page.setDefaultTimeout(8000);
    const flow = { ...JSON.parse(readFileSync(file, 'utf8')), timeout: 8000 };
    // The runner hangs on some failures.
    const late = new Promise((_, no) => setTimeout(() => no(new Error('did not end within 40 s')), 40000).unref());
    try {
      const runner = await createRunner(flow, new PuppeteerRunnerExtension(browser, page, { timeout: 8000 }));
      await Promise.race([runner.run(), late]);
    } catch (e) {
      error = String(e?.stack ?? e);
    }
    await fetch(capture, { method: 'POST', body: JSON.stringify({ runner: 'puppeteer', name, error, browser: browser.wsEndpoint() }) });
    if (error) throw new Error('the browser may be held up');
    await profile.close();
  } catch (e) {
    console.error(name, e);
    browser?.process()?.kill('SIGKILL');
    browser = undefined;
  }
}
browser?.process()?.kill('SIGKILL');
process.exit(0);
