import svelte from 'eslint-plugin-svelte';
import globals from 'globals';
import ts from 'typescript-eslint';
import svelteConfig from './svelte.config.js';
import noKindName from './eslint/no-kind-name.js';
import noPlainText from './eslint/no-plain-text.js';
import noRawText from './eslint/no-raw-text.js';

/** The layers of src/, lowest first. A folder may import from those named, and from itself. */
const layers = {
  lib: ['lib'],
  backend: ['backend', 'lib'],
  state: ['state', 'backend', 'lib', 'paraglide'],
  components: ['components', 'state', 'lib', 'paraglide'],
  kinds: ['kinds', 'components', 'state', 'backend', 'lib', 'paraglide'],
  views: ['views', 'components', 'state', 'lib', 'paraglide'],
};
/** What the folders beside a kind's own may take from src/kinds. */
const shared = 'index|kind|words|fields';
const all = [...Object.keys(layers), 'paraglide'];

const arrows = Object.entries(layers).map(([layer, allowed]) => ({
  files: [`src/${layer}/**/*.{ts,svelte}`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: all
          .filter((other) => !allowed.includes(other))
          .map((other) => ({
            // Every layer may name the types of the API.
            regex: other === 'kinds' ? `^(\\.\\./)+kinds/(?!(${shared})$)` : `^(\\.\\./)+${other}(/(?!wire$)|$)`,
            message: `src/${layer} does not import from src/${other}: see docs/development/architecture.md.`,
          })),
      },
    ],
  },
}));

/** What only src/backend may touch. */
const wire = ['fetch', 'WebSocket', 'XMLHttpRequest', 'EventSource', 'sessionStorage'].map((name) => ({
  name,
  message: 'Only src/backend talks to the server and keeps the session.',
}));

export default ts.config(
  { ignores: ['dist/', 'src/paraglide/', 'src/backend/schema.d.ts', 'test-results/', 'playwright-report/'] },
  ...ts.configs.strict,
  ...svelte.configs.recommended,
  {
    languageOptions: { globals: { ...globals.browser }, parserOptions: { extraFileExtensions: ['.svelte'] } },
    rules: {
      eqeqeq: 'error',
      'no-console': 'error',
      'prefer-const': 'off',
      'svelte/prefer-const': ['error', { destructuring: 'all', excludedRunes: ['$props', '$state', '$derived', '$bindable'] }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      'svelte/no-at-html-tags': 'error',
      'svelte/require-each-key': 'error',
      'svelte/no-navigation-without-resolve': 'off',
      // Sets and maps that nothing draws are plain ones on purpose.
      'svelte/prefer-svelte-reactivity': 'off',
    },
  },
  {
    files: ['**/*.svelte', '**/*.svelte.ts'],
    languageOptions: { parserOptions: { parser: ts.parser, svelteConfig } },
  },
  {
    files: ['src/**/*.svelte'],
    plugins: { deskbell: { rules: { 'no-plain-text': noPlainText, 'no-raw-text': noRawText } } },
    rules: { 'deskbell/no-plain-text': 'error', 'deskbell/no-raw-text': 'error' },
  },
  {
    files: ['src/**/*.{ts,svelte}'],
    ignores: ['src/kinds/**'],
    plugins: { kinds: { rules: { 'no-kind-name': noKindName } } },
    rules: { 'kinds/no-kind-name': 'error' },
  },
  {
    files: ['src/**'],
    ignores: ['src/backend/**'],
    rules: {
      'no-restricted-globals': ['error', ...wire],
      'no-restricted-properties': [
        'error',
        { object: 'window', property: 'go', message: 'Only src/backend/shell.ts knows the Wails runtime.' },
        { object: 'window', property: 'runtime', message: 'Only src/backend/shell.ts knows the Wails runtime.' },
      ],
    },
  },
  ...arrows,
  { files: ['e2e/**', '*.ts', '*.js', 'eslint/**'], languageOptions: { globals: { ...globals.node } } },
);
