import { expect, it } from 'vitest';
import { cut } from './long';

it('cuts a text to so many characters and lines, and leaves a short one as it is', () => {
  expect([cut('short', 10), cut('a\nb', 10, 2), cut('', 3, 1)]).toEqual(['short', 'a\nb', '']);
  expect([cut('longer', 4), cut('a\nb\nc', 10, 2), cut('a\nb\nc', 10, 1)]).toEqual(['long…', 'a\nb…', 'a…']);
  expect(cut('ab😀', 3)).toBe('ab…');
});

it('does not read to the end of a long one', () => {
  const began = performance.now();
  for (let i = 0; i < 1000; i++) cut('x'.repeat(10) + 'y'.repeat(1_000_000), 2000, 30);
  expect(performance.now() - began).toBeLessThan(5000);
});
