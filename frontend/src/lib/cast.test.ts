import { expect, test } from 'vitest';
import { past, printed } from './cast';

const cast = ['{"version":3,"term":{"cols":80,"rows":24}}', '[0.5, "o", "$ "]', '# a remark', '[1.5, "i", "x"]', '[2.25, "o", "ls\\r\\n"]', '[10, "m", "chapter"]', '[0, "x", "0"]', ''].join('\n');

test('what was printed stands at the sum of the times before it', () => {
  expect(printed(cast)).toEqual([0.5, 4.25]);
  expect(printed('')).toEqual([]);
});

test.each([[0, undefined], [0.6, 3.55], [2.24, 3.55], [2.26, undefined], [5, undefined]])('from %d s a long pause is skipped to %s', (now, to) => expect(past([0.5, 4.25], now)).toBe(to));
