import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

interface Lock {
  packages: Record<string, { version?: string; resolved?: string; link?: boolean; optionalDependencies?: Record<string, string> }>;
}

const root = new URL('../../../', import.meta.url);
const find = (folder: string): string[] =>
  readdirSync(new URL(folder, root), { withFileTypes: true }).flatMap((entry) => {
    if (entry.isDirectory()) return entry.name === 'node_modules' || entry.name.startsWith('.') ? [] : find(`${folder}${entry.name}/`);
    return entry.name === 'package-lock.json' ? [folder + entry.name] : [];
  });
const locks = find('./');

describe.each(locks)('%s', (path) => {
  const { packages } = JSON.parse(readFileSync(new URL(path, root), 'utf8')) as Lock;

  // npm leaves out what its registry did not give it, and `npm ci` then refuses the file. An entry may be without a digest.
  it('has the packages of every platform', () => {
    const missing = Object.entries(packages).flatMap(([at, { optionalDependencies }]) =>
      Object.keys(optionalDependencies ?? {}).filter((name) => !(`node_modules/${name}` in packages) && !(`${at}/node_modules/${name}` in packages)));
    expect(missing).toEqual([]);
  });

  // A link points into the folder itself.
  it('names no registry', () => expect(Object.values(packages).filter(({ resolved, link }) => resolved && !link)).toEqual([]));
});
