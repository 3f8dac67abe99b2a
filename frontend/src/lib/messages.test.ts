import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const folder = path.resolve(import.meta.dirname, '../../messages');
// What the server says comes in English with its code: a test of the server's compares the Chinese with its table.
const files = (locale: string): { domain: string; keys: string[] }[] =>
  readdirSync(folder).filter((domain) => domain !== 'server').map((domain) => ({ domain, keys: Object.keys(JSON.parse(readFileSync(path.join(folder, domain, `${locale}.json`), 'utf8')) as object) }));

// One of them would be said in place of the other, and messages would take minutes to compile.
it('no message is in two files', () => {
  const seen = new Map<string, string>();
  const twice = files('en').flatMap(({ domain, keys }) => keys.flatMap((key) => {
    const before = seen.get(key);
    seen.set(key, domain);
    return before ? [`${key}: ${before}, ${domain}`] : [];
  }));
  expect(twice).toEqual([]);
});

it('every message is said in both languages', () => {
  expect(files('zh-CN').map(({ domain, keys }) => [domain, keys.sort()])).toEqual(files('en').map(({ domain, keys }) => [domain, keys.sort()]));
});
