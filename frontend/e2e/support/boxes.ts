/** What came of a command in a box, as `deskbell box --ask-operator` sends it. */
export const boxed = {
  command: 'npm run codegen', folder: '/home/ada/web', project: '/home/ada/web', exit_code: 0, seconds: 12.38, output_lines: 41, written: 421_888, masked: ['.env'],
  output: [
    'openapi-typescript 7.4.1', 'Reading openapi.yaml, 118 paths, 204 schemas', '✓ openapi.yaml → src/gen/api.ts [412ms]', '✓ openapi.yaml → src/gen/types.ts [96ms]', 'prettier src/gen: 2 files formatted',
    'postcodegen: adding a hook', 'postcodegen: telemetry unreachable, skipped', 'Done in 12.38 s',
  ].join('\n'),
  files: [
    {
      path: '.husky/pre-commit', change: 'added', sizes: [0, 52], mode_after: '-rwxr-xr-x', warning: 'runs_by_itself',
      diff: '--- /dev/null\n+++ b/.husky/pre-commit\n@@ -0,0 +1,2 @@\n+#!/bin/sh\n+node tools/ping.js --since="$(git log -1 --format=%ct)"\n',
    },
    {
      path: 'src/gen/api.ts', change: 'changed', sizes: [41_200, 42_380],
      diff: "--- a/src/gen/api.ts\n+++ b/src/gen/api.ts\n@@ -12,7 +12,8 @@\n export interface Order {\n   id: string;\n-  total: number;\n+  total: Money;\n+  currency: Currency;\n   lines: OrderLine[];\n }\n \n export interface OrderLine {\n",
    },
    { path: 'src/gen/types.ts', change: 'changed', sizes: [2_100, 2_420], diff: '--- a/src/gen/types.ts\n+++ b/src/gen/types.ts\n@@ -1,3 +1,5 @@\n export type ID = string;\n+export type Money = { amount: string };\n+export type Currency = string;\n export type Date = string;\n export type Kind = string;\n' },
    { path: 'src/gen/logo.png', change: 'added', sizes: [0, 18_400] },
    { path: 'src/gen/old.ts', change: 'deleted', sizes: [310, 0], diff: '--- a/src/gen/old.ts\n+++ /dev/null\n@@ -1,1 +0,0 @@\n-export {};\n' },
  ],
  limits: { seconds: 295, memory: 4 * 2 ** 30, disk: 2 * 2 ** 30, processes: 1024 }, made_with: 'bubblewrap 0.11.0, Landlock, seccomp', risk_level: 'high',
};
