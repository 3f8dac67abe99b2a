/**
 * Holds styles to src/tokens.css: no colour of their own, no spacing in pixels where a token has that size, and no
 * breakpoint but those the tokens name. Media queries take no variables, so there the numbers are compared.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const src = path.resolve(import.meta.dirname, '../src');
const tokens = readFileSync(path.join(src, 'tokens.css'), 'utf8');
const spaces = new Map([...tokens.matchAll(/(--s-\d): (\d+)px/g)].map(([, name, size]) => [size, name]));
const breakpoints = [...tokens.matchAll(/--at-\w+: (\d+)px/g)].map(([, width]) => Number(width));

const rules = [
  [/#[\da-f]{3,8}\b|\b(?:rgb|hsl|hwb|lab|lch|oklab|oklch|color)a?\(/gi, ([text]) => `the colour ${text} belongs into tokens.css`],
  [/\b(?:padding|margin|gap|row-gap|column-gap)(?:-[a-z]+)?:([^;}]*)/g, ([, value]) => {
    const size = [...value.matchAll(/(?<![\d.])(\d+)px/g)].map(([, n]) => n).find((n) => spaces.has(n));
    return size && `write var(${spaces.get(size)}) for ${size}px`;
  }],
  [/@media[^{]*\((?:max-width: (\d+)|min-width: (\d+))px\)/g, ([, below, from]) => !breakpoints.includes(below ? Number(below) + 1 : Number(from)) && `no breakpoint of tokens.css: ${below ?? from}px`],
];

let faults = 0;
for (const name of readdirSync(src, { recursive: true })) {
  if (!/\.(svelte|css)$/.test(name) || name === 'tokens.css' || name.startsWith('paraglide')) continue;
  const text = readFileSync(path.join(src, name), 'utf8');
  // All but the styles is blanked, so that places stay true.
  const style = name.endsWith('.css') ? text : text.replace(/^[\s\S]*?(?=<style|$(?![\s\S]))/, (rest) => rest.replace(/[^\n]/g, ' '));
  const bare = style.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '));
  for (const [pattern, fault] of rules) {
    for (const match of bare.matchAll(pattern)) {
      const found = fault(match);
      if (!found) continue;
      faults++;
      process.stderr.write(`src/${name}:${bare.slice(0, match.index + match[0].length).split('\n').length}  ${found}\n`);
    }
  }
}
if (faults) process.exitCode = 1;
