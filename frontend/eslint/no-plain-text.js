/**
 * Keeps words out of markup: every text a person reads comes from messages/, so that no language is left behind.
 * Looks at text between tags and at the attributes that are read aloud or shown.
 */
const spoken = new Set(['aria-label', 'aria-description', 'alt', 'title', 'placeholder', 'label']);
const word = /\p{L}{2,}/u;

export default {
  meta: { type: 'problem', schema: [], messages: { plain: 'Words belong in messages/: "{{text}}"' } },
  create(context) {
    const report = (node, text) => {
      if (word.test(text)) context.report({ node, messageId: 'plain', data: { text: text.trim().slice(0, 40) } });
    };
    return {
      SvelteText(node) {
        if (node.parent?.type !== 'SvelteElement' && node.parent?.type !== 'Program' && !node.parent?.type.endsWith('Block')) return;
        const element = node.parent?.type === 'SvelteElement' ? node.parent.name?.name : '';
        // What a machine reads stays as it is: commands and key names.
        if (element === 'code' || element === 'kbd') return;
        report(node, node.value);
      },
      SvelteAttribute(node) {
        if (!spoken.has(node.key.name)) return;
        for (const value of node.value) if (value.type === 'SvelteLiteral') report(value, value.value);
      },
    };
  },
};
