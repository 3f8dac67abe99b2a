/** A text with a part of it selected, as a text field has it. */
export interface Selected {
  text: string;
  start: number;
  end: number;
}

export const marks = ['bold', 'code', 'list', 'link'] as const;
export type Mark = (typeof marks)[number];

const around = ({ text, start, end }: Selected, before: string, after = before): Selected => {
  const inside = text.slice(start, end);
  // What has the mark loses it.
  if (text.slice(0, start).endsWith(before) && text.slice(end).startsWith(after)) {
    return { text: text.slice(0, start - before.length) + inside + text.slice(end + after.length), start: start - before.length, end: end - before.length };
  }
  return { text: text.slice(0, start) + before + inside + after + text.slice(end), start: start + before.length, end: end + before.length };
};

/** The lines that the selection touches become items of a list, or plain lines again where all of them are items. */
function listed({ text, start, end }: Selected): Selected {
  const from = text.lastIndexOf('\n', start - 1) + 1;
  const next = text.indexOf('\n', Math.max(start, end - 1));
  const to = next < 0 ? text.length : next;
  const lines = text.slice(from, to).split('\n');
  const all = lines.every((line) => line.startsWith('- '));
  const block = lines.map((line) => (all ? line.slice(2) : line.startsWith('- ') ? line : `- ${line}`)).join('\n');
  const grown = block.length - (to - from);
  const first = all ? -2 : lines[0]?.startsWith('- ') ? 0 : 2;
  return { text: text.slice(0, from) + block + text.slice(to), start: Math.max(from, start + first), end: Math.max(from, end + grown) };
}

/** Puts a mark of Markdown around what is selected, or takes it away where it is there. */
export function marked(mark: Mark, now: Selected): Selected {
  switch (mark) {
    case 'bold':
      return around(now, '**');
    case 'code':
      return now.text.slice(now.start, now.end).includes('\n') ? around(now, '```\n', '\n```') : around(now, '`');
    case 'list':
      return listed(now);
    case 'link': {
      // The address is what is typed next.
      const inside = now.text.slice(now.start, now.end);
      const url = /^https?:\/\/\S+$/.test(inside);
      const at = now.start + (url ? 1 : inside.length + 3);
      return { text: `${now.text.slice(0, now.start)}${url ? `[](${inside})` : `[${inside}]()`}${now.text.slice(now.end)}`, start: at, end: at };
    }
  }
}
