/** Tokens that are known by how they begin, keys in PEM, and passwords in addresses. */
const known = /\b(?:gh[opsur]_\w{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|npm_\w{30,}|sk-[\w-]{16,}|[rs]k_(?:live|test)_\w{16,}|xox[abeoprs]-[\w-]{10,}|A[KS]IA[0-9A-Z]{16}|AIza[\w-]{35}|eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})|-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g;
const named = /(?:pass(?:word|wd|phrase)?|pwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|authorization|credentials?)(?:\\?["'])?(?:\s*[:=]\s*|(?<=--?[\w-]+)\s+)(?:\\?["'])?(?:(?:Bearer|Basic|Token)\s+)?([^\s"'\\&,;{}$<][^\s"'\\&,;{}]{5,})/dgi;
const bearer = /\b(?:Bearer|Basic)\s+([\w.~+/=-]{12,})/dg;
const address = /:\/\/[^\s:/@"']+:([^\s@/"']+)@/dg;
const ordinary = /^(?:\d{1,9}|true|false|null|undefined|none)$/i;

/** Where secrets stand in a text, as far as their form or their name tells, in order and apart. */
export function secretsIn(text: string): [from: number, to: number][] {
  const found: [number, number][] = Array.from(text.matchAll(known), ({ 0: all, index }): [number, number] => [index, index + all.length]);
  for (const pattern of [named, bearer, address]) {
    for (const { 1: value = '', indices } of text.matchAll(pattern)) {
      const at = indices?.[1];
      if (at && !ordinary.test(value)) found.push(at);
    }
  }
  const apart: [number, number][] = [];
  for (const [from, to] of found.sort((a, b) => a[0] - b[0])) {
    const last = apart.at(-1);
    if (last && from < last[1]) last[1] = Math.max(last[1], to);
    else apart.push([from, to]);
  }
  return apart;
}

/** Texts with their secrets masked. The same secret has the same mask, and another one another, so that a change is still seen. */
export function mask<T extends (string | undefined)[]>(...texts: T): { texts: T; count: number } {
  const numbers = new Map<string, number>();
  const masked = texts.map((text) => {
    if (!text) return text;
    let [out, at] = ['', 0];
    for (const [from, to] of secretsIn(text)) {
      const secret = text.slice(from, to);
      const n = numbers.get(secret) ?? numbers.size + 1;
      numbers.set(secret, n);
      out += text.slice(at, from) + '••••••' + (n > 1 ? `[${n}]` : '');
      at = to;
    }
    return out + text.slice(at);
  });
  return { texts: masked as T, count: numbers.size };
}
