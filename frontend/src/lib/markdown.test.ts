import { describe, expect, test } from 'vitest';
import { parse, safeLink } from './markdown';

describe('links', () => {
  test.each([
    ['https is followed', 'https://example.com/a?b#c', 'https://example.com/a?b#c'],
    ['http is followed', 'http://example.com', 'http://example.com/'],
    ['a script is not', 'javascript:alert(1)', null],
    ['data is not', 'data:text/html,x', null],
    ['a file is not', 'file:///etc/passwd', null],
    ['a user name that poses as a host is not', 'https://bank.example@evil.example/', null],
    ['half an address is not', '/settings', null],
  ])('%s', (_, href, want) => expect(safeLink(href)).toBe(want));
});

test('raw HTML stays a token of its own, with its text as it was', () => {
  const [token] = parse('<img src=x onerror=alert(1)>');
  expect(token?.type).toBe('html');
  expect(token?.raw).toBe('<img src=x onerror=alert(1)>');
});
