import type { Plugin } from 'vite';

/** Which modules the parts of the page begin with, and how many bytes of script each may load before it is drawn, in one language. */
const parts: Record<string, { from: string[]; most: number }> = {
  'what every window loads': { from: ['src/main.ts'], most: 504_000 },
  'the popup': { from: ['src/main.ts', 'src/views/PopupView.svelte'], most: 550_000 },
  'the inbox': { from: ['src/main.ts', 'src/views/Console.svelte', 'src/views/InboxView.svelte'], most: 719_000 },
};
const language = 'src/paraglide/messages/en.js';

/** Fails the build when a part of the page loads more than it may. */
export function sizes(): Plugin {
  return {
    name: 'sizes',
    apply: 'build',
    generateBundle(_, bundle) {
      const chunks = Object.values(bundle).filter((file) => file.type === 'chunk');
      const weigh = (modules: string[]): number => {
        const open = modules.map((module) => {
          const chunk = chunks.find(({ facadeModuleId, moduleIds }) => facadeModuleId?.endsWith(module) || moduleIds.some((id) => id.endsWith(module)));
          if (!chunk) throw new Error(`${module} is in no file`);
          return chunk.fileName;
        });
        const loaded = new Set(open);
        for (const name of loaded) for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? []) loaded.add(next);
        return chunks.filter(({ fileName }) => loaded.has(fileName)).reduce((sum, { code }) => sum + Buffer.byteLength(code), 0);
      };
      for (const [part, { from, most }] of Object.entries(parts)) {
        const size = weigh([...from, language]);
        this.info(`${part}: ${Math.ceil(size / 1000)} kB of ${most / 1000}`);
        if (size > most) this.error(`${part} loads ${size} bytes of script, more than ${most}: load what it does not need later, with import().`);
      }
    },
  };
}
