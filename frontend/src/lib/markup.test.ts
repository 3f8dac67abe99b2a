import { describe, expect, test } from 'vitest';
import { marked, type Mark } from './markup';

/** A text whose selection is between two bars. */
const of = (text: string) => {
  const [before = '', inside = '', after = ''] = text.split('|');
  return { text: before + inside + after, start: before.length, end: before.length + inside.length };
};
const shown = ({ text, start, end }: ReturnType<typeof of>): string => `${text.slice(0, start)}|${text.slice(start, end)}|${text.slice(end)}`;

describe('marks of Markdown', () => {
  test.each<[Mark, string, string]>([
    ['bold', 'a |b| c', 'a **|b|** c'],
    ['bold', 'a **|b|** c', 'a |b| c'],
    ['bold', '||', '**||**'],
    ['code', 'run |ls| now', 'run `|ls|` now'],
    ['code', '|a\nb|', '```\n|a\nb|\n```'],
    ['list', 'one\n|two\nthree|\nfour', 'one\n- |two\n- three|\nfour'],
    ['list', '- |one|', '|one|'],
    ['list', '|one\n- two|', '- |one\n- two|'],
    ['list', '||', '- ||'],
    ['list', 'a\n||', 'a\n- ||'],
    ['link', 'see |this|.', 'see [this](||).'],
    ['link', '|https://a.example/b|', '[||](https://a.example/b)'],
    ['link', '||', '[](||)'],
  ])('%s: %s', (mark, before, after) => expect(shown(marked(mark, of(before)))).toBe(after));
});
