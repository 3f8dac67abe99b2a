/**
 * Keeps what others wrote from being drawn raw: characters that turn the direction of reading, or cannot be seen, must be shown.
 * components/shared/Exact.svelte draws such texts, Markdown.svelte formatted ones. Looks at where a field of the API, or a function
 * that gives one, stands between tags.
 */
const fields = new Set([
  'agent', 'agent_id', 'call', 'claimed_by', 'content', 'cwd', 'description', 'expected_outcome', 'human_input', 'note', 'reason', 'session_id', 'skipped_by', 'task', 'tool', 'tool_name',
]);
const makers = new Set(['callerOf', 'nameOf', 'title', 'changeSentence', 'orderSentence', 'usualSentence', 'planGist']);

/** Whether an expression is a text that somebody else wrote, or holds one; a condition does not. A name stands for what it is derived from. */
const rawIn = (scopeOf) => {
  const raw = (node) => {
    switch (node?.type) {
      case 'Identifier': {
        let scope = scopeOf(node);
        while (scope && !scope.set.has(node.name)) scope = scope.upper;
        const init = scope?.set.get(node.name)?.defs[0]?.node.init;
        return init?.type === 'CallExpression' && init.callee.name === '$derived' && raw(init.arguments[0]);
      }
      case 'MemberExpression':
        return !node.computed && fields.has(node.property.name);
      case 'ChainExpression':
        return raw(node.expression);
      case 'CallExpression':
        return makers.has(node.callee.name) || (node.callee.name !== 'inspect' && node.arguments.some(raw));
      case 'ConditionalExpression':
        return raw(node.consequent) || raw(node.alternate);
      case 'LogicalExpression':
        return raw(node.left) || raw(node.right);
      case 'BinaryExpression':
        return node.operator === '+' && (raw(node.left) || raw(node.right));
      case 'TemplateLiteral':
        return node.expressions.some(raw);
      case 'ObjectExpression':
        return node.properties.some((property) => raw(property.value));
      default:
        return false;
    }
  };
  return raw;
};

export default {
  meta: { type: 'problem', schema: [], messages: { raw: 'Draw it with Exact or Markdown: others wrote it.' } },
  create: (context) => ({
    SvelteMustacheTag(node) {
      const raw = rawIn((of) => context.sourceCode.getScope(of));
      if (node.parent.type !== 'SvelteAttribute' && node.parent.type !== 'SvelteStyleDirective' && raw(node.expression)) context.report({ node, messageId: 'raw' });
    },
  }),
};
