import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FullConfig, FullResult, Reporter, Suite } from '@playwright/test/reporter';

const list = path.resolve(import.meta.dirname, '../../../build/flaky.txt');

/** The tests on the list whose day has not passed: build/scripts/gotest, which refuses a list that is badly made, says how it is written. */
function known(): Set<string> {
  const today = new Date().toISOString().slice(0, 10);
  const entries = readFileSync(list, 'utf8').split('\n').filter((line) => line && !line.startsWith('#'));
  return new Set(entries.map((line) => line.split('\t')).filter(([last = '']) => last >= today).map(([, name = '']) => name));
}

/** Fails a run in which a test passed at its second try, unless that test is on the list. */
export default class Flaky implements Reporter {
  #root: Suite | undefined;

  onBegin(_: FullConfig, root: Suite): void {
    this.#root = root;
  }

  async onEnd(): Promise<{ status: FullResult['status'] } | undefined> {
    const flaky = this.#root?.allTests().filter((test) => test.outcome() === 'flaky').map((test) => test.titlePath().slice(2).join(' › ')) ?? [];
    const excused = known();
    for (const name of flaky) process.stdout.write(`flaky  ${name}: ${excused.has(name) ? 'as build/flaky.txt says' : 'fix it, or put it on the list in build/flaky.txt'}\n`);
    return flaky.every((name) => excused.has(name)) ? undefined : { status: 'failed' };
  }
}
