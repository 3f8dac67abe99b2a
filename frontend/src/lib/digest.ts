/** SHA-256 of a text's UTF-8 bytes, in lower-case hex; '' where the page may not compute it (no secure context). */
export async function sha256(text: string): Promise<string> {
  if (!globalThis.crypto?.subtle) return '';
  const sum = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(sum), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** What an answer is bound to: the digest of a request's exact bytes, together with the ids of its attachments; '' as for sha256. */
export async function boundDigest(text: string, attachments: readonly { attachment_id: string }[] = []): Promise<string> {
  const sum = await sha256(text);
  return sum && attachments.length ? sha256([sum, ...attachments.map((file) => file.attachment_id)].join('\n')) : sum;
}

/** A digest short enough to compare by eye: its first and last two groups of four. */
export function shortDigest(hex: string): string {
  return hex.length < 16 ? hex : `${hex.slice(0, 4)} ${hex.slice(4, 8)} … ${hex.slice(-8, -4)} ${hex.slice(-4)}`;
}

/** The shortest form, for cards. */
export function tinyDigest(hex: string): string {
  return hex.length < 8 ? hex : `${hex.slice(0, 4)}…${hex.slice(-4)}`;
}
