import { expect, test } from 'vitest';
import { boundDigest, sha256 } from './digest';

test('a request without attachments is bound to its bytes', async () => {
  expect(await boundDigest('rm -rf build')).toBe(await sha256('rm -rf build'));
  expect(await boundDigest('rm -rf build', [])).toBe(await sha256('rm -rf build'));
});

// The same numbers as in TestDigestOfAttachments of backend/human.
test('one with attachments is bound to them, too, in their order', async () => {
  const [a, b] = [{ attachment_id: 'att_a' }, { attachment_id: 'att_b' }];
  expect(await boundDigest('rm -rf build', [a, b])).toBe('d21abe39becb8971b50816a2a1f7aae72009e22af0c9c5298fc6e647bbf1447f');
  expect(await boundDigest('rm -rf build', [b, a])).not.toBe(await boundDigest('rm -rf build', [a, b]));
});
