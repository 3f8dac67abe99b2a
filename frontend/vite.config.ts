import { fileURLToPath } from 'node:url';
import { paraglideVitePlugin } from '@inlang/paraglide-js';
import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vitest/config';
import { rrwebRecorder } from './rrweb.build';
import { sizes } from './sizes.build';

// `npm run dev` serves the page itself and sends what is the server's to a running `deskbell serve`.
const server = process.env.DESKBELL_DEV_SERVER ?? 'http://127.0.0.1:7717';

export default defineConfig({
  plugins: [
    // Unit tests take the messages as `npm run messages` left them: the plugin's watcher would keep the process.
    !process.env.VITEST &&
      paraglideVitePlugin({
        project: './project.inlang',
        outdir: './src/paraglide',
        strategy: ['custom-deskbell', 'baseLocale'],
        outputStructure: 'locale-modules',
      }),
    svelte(),
    rrwebRecorder(),
    sizes(),
  ],
  // Of the messages only the chosen language's are loaded.
  resolve: { alias: process.env.VITEST ? [] : [{ find: /^(\.\.\/)+paraglide\/messages$/, replacement: fileURLToPath(new URL('src/state/messages.ts', import.meta.url)) }] },
  build: {
    target: ['chrome123', 'safari17.5'],
    assetsInlineLimit: 0,
    // A style sheet of a part that failed to load once is never asked for again, so that the part would come without it.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // sizes.build.ts has the limits.
    chunkSizeWarningLimit: Infinity,
  },
  // The server answers its own Host and Origin only, so what the development page asks comes from there.
  server: { proxy: { '/api': { target: server, ws: true, changeOrigin: true, headers: { origin: server } } } },
  // Threads begin sooner than processes.
  test: { include: ['src/**/*.test.ts'], setupFiles: ['src/page.testing.ts'], pool: 'threads' },
});
