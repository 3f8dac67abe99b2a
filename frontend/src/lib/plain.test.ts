import { Lexer } from 'marked';
import { expect, test } from 'vitest';
import { plain } from './plain';

test.each(['Deploy 4.2 to staging?', 'a - b', 'C# and F#', 'It is 10:30.', 'über (alles), 中文。', ''])('%j is drawn as it is', (text) => expect(plain(text)).toBe(true));

const marks = ['a\nb', '# a', '#', '- a', '+ a', '1. a', '2) b', '> a', '`a`', '*a*', '_a_', '~~a~~', '[a](b)', '![a](b)', 'https://example.com', 'www.example.com', 'a@example.com', '<b>', '&amp;', '\\*', '    code', '---', '- - -', '===', '| a |', '$a'];

test('what Markdown reads as more than a text is not', () => {
  for (const text of marks) {
    const tokens = new Lexer({ gfm: true, breaks: true }).lex(text);
    const [first] = tokens;
    const text1 = tokens.length === 1 && first?.type === 'paragraph' && first.tokens?.length === 1 && first.tokens[0]?.type === 'text' && first.tokens[0].raw === text;
    if (!text1) expect(plain(text), text).toBe(false);
  }
});
