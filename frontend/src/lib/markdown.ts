import { Lexer, type Token } from 'marked';

/**
 * Reads Markdown into tokens, which a component draws one by one. No HTML is ever made from it: raw HTML stays
 * visible as the text it is, and pictures become links.
 */
export function parse(text: string): Token[] {
  return new Lexer({ gfm: true, breaks: true }).lex(text);
}

/** The address where it may be followed, else null: http and https only, and no user name that poses as a host. */
export function safeLink(href: string): string | null {
  try {
    const url = new URL(href);
    return (url.protocol === 'http:' || url.protocol === 'https:') && !url.username && !url.password ? url.href : null;
  } catch {
    return null;
  }
}

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** marked escapes the text of some tokens; Svelte escapes too, so once is undone. */
export function unescape(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => entities[name] ?? whole);
}
