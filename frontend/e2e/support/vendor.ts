import { createServer, type Server as Http } from 'node:http';
import { chmod, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import type { Screen } from './screen';

const pages: Record<string, string> = {
  '/': `<title>Billing, acme</title><h1 id="billing">Billing</h1>
    <p><a id="quota" href="/quota">Quota and prices</a></p>`,
  '/quota': `<title>Quota, acme</title><h2 id="plan">Scale 2026</h2>
    <p>Used this month: <b id="used" role="status" aria-label="Used this month">8.4M</b> of 12,000,000</p>
    <table id="table"><thead><tr><th>Item<th>Price</tr></thead><tbody><tr><td id="requests">Requests<td id="price">0.00042</tr><tr><td>Storage<td>0.021</tr></tbody></table>
    <p><label>Note <input id="note" autocomplete="off"></label> <button id="ask" type="button" onclick="document.getElementById('said').textContent = 'Asked'">Ask</button> <a id="csv" href="/prices-2026.csv" download>Prices as CSV</a></p><p id="said"></p>
    <img alt="" src="/no-picture.png" onerror="document.documentElement.dataset.errors = Number(document.documentElement.dataset.errors ?? 0) + 1">`,
};
const style = '<style>body { font: 16px/24px sans-serif; margin: 24px } table { border-collapse: collapse } td, th { border: 1px solid #999; padding: 8px 24px; text-align: left } a, button, input { display: inline-block; padding: 8px 16px; font: inherit }</style>';
// The page says where its parts stand on the screen, as a person would see it.
const tell = `<script>
  document.documentElement.dataset.runs = Number(document.documentElement.dataset.runs ?? 0) + 1;
  const say = () => {
    const left = screenX + (outerWidth - innerWidth) / 2, top = screenY + outerHeight - innerHeight - (outerWidth - innerWidth) / 2;
    const where = {};
    for (const part of document.querySelectorAll('[id]')) {
      const box = part.getBoundingClientRect();
      where[part.id] = [Math.round(left + box.left + Math.min(box.width / 2, 40)), Math.round(top + box.top + Math.min(box.height / 2, 16))];
    }
    navigator.sendBeacon('/where', JSON.stringify({ path: location.pathname, where }));
  };
  setInterval(say, 200); say();
</script>`;

/** A vendor's console on this machine, that knows where its parts stand on the screen. */
export class Vendor {
  #http: Http;
  #path = '';
  #where: Record<string, [number, number]> = {};
  #before = '';
  #stands = false;

  private constructor(http: Http) {
    this.#http = http;
  }

  static async start(): Promise<Vendor> {
    const http = createServer();
    const vendor = new Vendor(http);
    http.on('request', (request, response) => {
      const path = new URL(request.url ?? '/', 'http://x').pathname;
      if (path === '/where') {
        let body = '';
        request.on('data', (part: Buffer) => (body += part.toString()));
        request.on('end', () => {
          const told = JSON.parse(body) as { path: string; where: Record<string, [number, number]> };
          // A window that only just opened moves to its place.
          vendor.#stands = vendor.#before === body && Object.values(told.where).every(([x, y]) => x > 0 && y > 0);
          vendor.#before = body;
          vendor.#path = told.path;
          vendor.#where = told.where;
          response.writeHead(204).end();
        });
      } else if (path.endsWith('.csv')) response.writeHead(200, { 'Content-Type': 'text/csv', 'Content-Disposition': 'attachment' }).end('item,price\nRequests,0.00042\n');
      else if (pages[path]) response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<!doctype html><html lang="en"><meta charset="utf-8">${style}<body>${pages[path]}${tell}`);
      else response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
    return vendor;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  /** Waits until a page is shown. */
  shows(screen: Screen, path: string): Promise<void> {
    return screen.until(`the page ${path}`, () => Promise.resolve(this.#path === path && this.#stands), 30);
  }

  /** Presses a part of the page as a person does. */
  async click(screen: Screen, id: string): Promise<void> {
    await screen.until(id, () => Promise.resolve(this.#stands && id in this.#where));
    const [x, y] = this.#where[id] as [number, number];
    // The pointer comes from beside, so that the page sees it move.
    await screen.do('mousemove', String(x - 6), String(y - 3), 'mousemove', String(x), String(y), 'sleep', '0.1', 'click', '1');
  }

  async end(): Promise<void> {
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }
}

/** A browser to be recorded, as a setting names it: tests may run as root, where Chromium wants no sandbox. */
export async function browserPath(screen: Screen): Promise<string> {
  const path = `${screen.dir}/chromium`;
  await writeFile(path, `#!/bin/sh\nexec ${process.env.CHROMIUM ?? '/usr/bin/chromium'} --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync "$@"\n`);
  await chmod(path, 0o755);
  return path;
}
