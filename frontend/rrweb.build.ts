import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { build, type Plugin } from 'vite';

/**
 * Puts rrweb's recorder into the build as one plain script, rrweb-record.js: it declares the global `rrweb`, with
 * `rrweb.record`. The server gives it to the pages of a browser that is recorded; the console itself never loads it.
 */
export function rrwebRecorder(): Plugin {
  let root = '';
  return {
    name: 'rrweb-record',
    apply: 'build',
    configResolved: (config) => void (root = config.root),
    async generateBundle() {
      const built = await build({
        root,
        configFile: false,
        publicDir: false,
        logLevel: 'silent',
        build: { write: false, target: 'chrome123', lib: { entry: path.join(root, 'rrweb.record.ts'), formats: ['iife'], name: 'rrweb', fileName: 'rrweb-record' } },
      });
      const [output] = Array.isArray(built) ? built : [built];
      const script = output && 'output' in output ? output.output.find((part) => part.type === 'chunk') : undefined;
      if (script?.type !== 'chunk') throw new Error('rrweb has no recorder to build');
      const { version } = JSON.parse(await readFile(path.join(root, 'node_modules/rrweb/package.json'), 'utf8')) as { version: string };
      const license = `/*! rrweb ${version}, MIT License, Copyright (c) 2018 Contributors (https://github.com/rrweb-io/rrweb/graphs/contributors) and SmartX Inc. */`;
      this.emitFile({ type: 'asset', fileName: 'rrweb-record.js', source: `${license}\n${script.code}` });
    },
  };
}
