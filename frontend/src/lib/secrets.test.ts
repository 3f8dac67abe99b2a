import { describe, expect, it } from 'vitest';
import { mask } from './secrets';

const of = (text: string): string => mask(text).texts[0];

describe('secrets in what agents send', () => {
  it.each([
    ['curl -H "Authorization: Bearer abcdef0123456789" https://x', 'curl -H "Authorization: Bearer ••••••" https://x'],
    ['{"url":"x","api_key":"q8Zr2-secret-77","n":1}', '{"url":"x","api_key":"••••••","n":1}'],
    ['{"command":"echo \\"password: hunter22\\""}', '{"command":"echo \\"password: ••••••\\""}'],
    ['DB_PASSWORD=hunter22 ./run --token s3cr3tvalue --out file', 'DB_PASSWORD=•••••• ./run --token •••••• --out file'.replace('token ••••••', 'token ••••••[2]')],
    ['git clone https://mei:hunter2@example.org/x', 'git clone https://mei:••••••@example.org/x'],
    ['push with ghp_abcdefghijklmnopqrstuvwx0123456789', 'push with ••••••'],
    ['-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nrest', '••••••\nrest'],
  ])('are masked in %s', (text, shown) => expect(of(text)).toBe(shown));

  it.each(['max_tokens: 4096000', 'Reset the password of mei', 'cat token.txt', 'password=$PASSWORD ./run', '{"token":null,"secret":""}', 'a/b:c@d', 'git log --author=mei'])('are not seen in %s', (text) => expect(of(text)).toBe(text));

  it('have the same mask where they are the same, so that a change is seen', () => {
    expect(mask('token=aaaaaaa x token=bbbbbbb', 'token=bbbbbbb', undefined)).toEqual({ texts: ['token=•••••• x token=••••••[2]', 'token=••••••[2]', undefined], count: 2 });
  });
});
