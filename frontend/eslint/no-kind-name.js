import { readFileSync } from 'node:fs';

const list = /export const kinds = (\[.*?\])/s.exec(readFileSync(new URL('../src/kinds/fields.ts', import.meta.url), 'utf8'));
if (!list) throw new Error('src/kinds/fields.ts lists no kinds');
const names = new Set(JSON.parse(list[1].replaceAll("'", '"')));

const kindly = new Set(['action_type', 'kind', 'operationKind']);
/** Whether an expression is the kind of an operation, as far as its name tells. */
const isKind = (node) =>
  node.type === 'MemberExpression' ? !node.computed && kindly.has(node.property.name) : node.type === 'ChainExpression' ? isKind(node.expression) : node.type === 'Identifier' && kindly.has(node.name);
const isName = (node) => node?.type === 'Literal' && names.has(node.value);

/** What differs between kinds is in their definitions: nothing outside src/kinds asks for one by name. */
export default {
  meta: { type: 'problem', schema: [], messages: { asks: 'Ask the definition: add what differs between kinds to src/kinds/kind.ts (docs/development/adding-a-kind.md).' } },
  create: (context) => ({
    BinaryExpression(node) {
      if (/^[!=]==?$/.test(node.operator) && ((isKind(node.left) && isName(node.right)) || (isKind(node.right) && isName(node.left)))) context.report({ node, messageId: 'asks' });
    },
    SwitchStatement(node) {
      if (isKind(node.discriminant) && node.cases.some(({ test }) => isName(test))) context.report({ node, messageId: 'asks' });
    },
    // A table by kind: an object two of whose keys are names of kinds, or a list that has them.
    ObjectExpression(node) {
      const found = node.properties.filter((property) => property.type === 'Property' && names.has(property.key.name ?? property.key.value));
      if (found.length > 2) context.report({ node, messageId: 'asks' });
    },
    ArrayExpression(node) {
      if (node.elements.filter(isName).length > 2) context.report({ node, messageId: 'asks' });
    },
  }),
};
