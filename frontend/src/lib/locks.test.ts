import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Lock {
  packages: Record<string, { version?: string; resolved?: string; link?: boolean; optionalDependencies?: Record<string, string> }>;
}

const root = new URL('../../../', import.meta.url);
const locks = execFileSync('git', ['ls-files', '*package-lock.json'], { cwd: root, encoding: 'utf8' }).trim().split('\n');

describe.each(locks)('%s', (path) => {
  const { packages } = JSON.parse(readFileSync(new URL(path, root), 'utf8')) as Lock;

  // npm leaves out what its registry did not give it, and `npm ci` then refuses the file. An entry may be without a digest.
  it('has the packages of every platform', () => {
    const missing = Object.entries(packages).flatMap(([at, { optionalDependencies }]) =>
      Object.keys(optionalDependencies ?? {}).filter((name) => !(`node_modules/${name}` in packages) && !(`${at}/node_modules/${name}` in packages)));
    expect(missing).toEqual([]);
  });

  it('names no registry', () => expect(Object.values(packages).filter(({ resolved }) => resolved)).toEqual([]));
});
