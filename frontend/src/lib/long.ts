/** As much of a text as is shown before somebody asks for all of it: so many characters and lines, and no half character. */
export function cut(text: string, most: number, lines = Infinity): string {
  let end = Math.min(text.length, most);
  let at = -1;
  for (let n = 0; n < lines; n++) {
    at = text.indexOf('\n', at + 1);
    if (at < 0 || at >= end) break;
    if (n + 1 === lines) end = at;
  }
  if (end >= text.length) return text;
  const last = text.charCodeAt(end - 1);
  return text.slice(0, last >= 0xd800 && last < 0xdc00 ? end - 1 : end) + '…';
}
