import { AxeBuilder } from '@axe-core/playwright';
import { test as base, expect, type Locator, type Page } from '@playwright/test';
import { Server, type Agent } from './server';

export { expect };
export type { Agent, Operation } from './server';

export const mod = process.platform === 'darwin' ? 'Meta' : 'Control';

interface Fixtures {
  /** Flags of `deskbell serve`. */
  flags: string[];
  server: Server;
  /** release-bot, which has a key. */
  bot: Agent;
  /** The console, signed in by a link. It fails the test when the page throws or logs an error. */
  app: Console;
}

/** What a person sees and does in one browser. */
export class Console {
  readonly errors: string[] = [];
  constructor(
    readonly page: Page,
    readonly server: Server,
  ) {
    page.on('pageerror', (error) => this.errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.errors.push(message.text());
    });
  }

  /** Opens the console by a fresh link, at a place such as 'inbox' or 'agents'. */
  async open(place = ''): Promise<void> {
    const { console } = await this.server.invite();
    await this.page.goto(console);
    await expect(this.page.getByRole('navigation').or(this.page.getByText('Step 1 of'))).toBeVisible();
    const view = this.page.locator('main > :not(.notes), .whole > *').first();
    await expect(view).toBeVisible();
    if (!place) return;
    await this.go(place);
    // The view before goes at once when the rail says that it is another; this one is loaded first, and brings its commands.
    await expect(this.page.locator(`nav a[href="#/${place.split(/[/?]/)[0]}"][aria-current="page"]`)).toBeAttached();
    await expect(view).toBeVisible();
  }

  /** Goes to a place without loading the page anew. */
  async go(place: string): Promise<void> {
    await this.page.evaluate((to) => (window.location.hash = `#/${to}`), place);
  }

  /** Opens one operation and waits until its answers are armed. */
  async openOperation(id: string): Promise<void> {
    await this.go(`inbox/${id}`);
    await expect(this.page.locator('#operation-title')).toBeVisible();
    await this.armed();
  }

  /** The half second has passed. */
  async armed(): Promise<void> {
    await expect(this.page.locator('.arming').first()).toHaveAttribute('aria-hidden', 'true');
  }

  row(id: string): Locator {
    return this.page.locator(`[data-id="${id}"]`);
  }

  button(name: string | RegExp): Locator {
    return this.page.getByRole('button', { name });
  }

  get reason(): Locator {
    return this.page.getByRole('textbox', { name: 'Reason' });
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }
}

export const test = base.extend<Fixtures>({
  flags: [[], { option: true }],
  server: async ({ flags }, use) => {
    const server = await Server.start(flags);
    await use(server);
    await server.end();
  },
  bot: async ({ server }, use) => use(await server.agent('release-bot')),
  app: async ({ page, server }, use) => {
    const app = new Console(page, server);
    await use(app);
    expect(app.errors, 'errors of the page').toEqual([]);
  },
});

/** Opens a select and chooses an option, by its value, its label or its place. */
export async function choose(select: Locator, what: string | { label: string } | { index: number }): Promise<void> {
  await select.click();
  const options = select.page().getByRole('option');
  if (typeof what === 'string') await select.page().locator(`[role="option"][data-value="${what}"]`).click();
  else if ('label' in what) await options.filter({ hasText: new RegExp(`^${what.label}$`) }).click();
  else await options.nth(what.index).click();
}

/** Holds a page to WCAG 2.2 at the levels A and AA. */
export async function accessible(page: Page, rules?: string[]): Promise<void> {
  // In legacy mode, which is for pages without frames of other origins, axe opens no page of its own.
  // What passes need not be described.
  const axe = new AxeBuilder({ page }).options({ resultTypes: ['violations'] }).setLegacyMode();
  const { violations } = await (rules ? axe.withRules(rules) : axe.withTags(['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'])).analyze();
  const found = violations.map((v) => `${v.id}: ${v.help}\n  ${v.nodes.map((node) => `${node.target.join(' ')} ${node.failureSummary ?? ''}`).join('\n  ')}`);
  expect(found).toEqual([]);
}

/** The same in both themes. What stands on the page is the same in both, so in the second only its colours are looked at. */
export async function accessibleInBothThemes(page: Page): Promise<void> {
  await page.emulateMedia({ colorScheme: 'light' });
  await accessible(page);
  await page.emulateMedia({ colorScheme: 'dark' });
  await accessible(page, ['color-contrast', 'link-in-text-block']);
}

/**
 * Gives the page so much room, in CSS pixels, and waits until it is laid out for it: it hears of its size with its next frame,
 * and until then what is seen and measured can be of the layout before.
 */
export async function resize(page: Page, width: number, height = 640): Promise<void> {
  await page.setViewportSize({ width, height });
  await page.waitForFunction((wide) => window.innerWidth === wide, width);
  await page.evaluate(() => new Promise((laid) => requestAnimationFrame(() => requestAnimationFrame(laid))));
}

/** The page itself never scrolls sideways, and none of these buttons is out of reach. */
export async function fits(page: Page, buttons = ''): Promise<void> {
  const { over, away } = await page.evaluate((of) => ({
    over: document.documentElement.scrollWidth - window.innerWidth,
    away: (of ? [...document.querySelectorAll(of)] : []).filter((button) => {
      const box = button.getBoundingClientRect();
      return button.checkVisibility({ visibilityProperty: true }) && box.width > 0 && (box.x < 0 || box.right > window.innerWidth + 1 || box.bottom > window.innerHeight + 1);
    }).map((button) => `${button.textContent} ${JSON.stringify(button.getBoundingClientRect())}`),
  }), buttons);
  expect(over, 'pixels the page is too wide').toBeLessThanOrEqual(0);
  expect(away, `buttons out of reach at ${page.viewportSize()?.width} pixels`).toEqual([]);
}
