// Makes the npm packages in build/dist: one for each platform whose programs are there, and `deskbell`, which depends on them.
//
//   node build/installers/npm/pack.mjs VERSION PLATFORM=FOLDER...
//
// Each folder holds a platform's deskbell and deskbell-hook, and on Windows deskbellw, which starts it without a console. A package's name and content follow from platforms.json.
import { execFileSync } from "node:child_process";
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, "../../..");
const dist = join(root, "build/dist");
const platforms = JSON.parse(readFileSync(join(here, "platforms.json"), "utf8"));
const [version, ...given] = process.argv.slice(2);
const repository = execFileSync(join(root, "build/scripts/version"), ["repository"], { encoding: "utf8" }).trim();

const about = {
  version,
  license: "Apache-2.0",
  ...(repository && { homepage: `https://github.com/${repository}`, repository: { type: "git", url: `git+https://github.com/${repository}.git` } }),
  engines: { node: ">=18" },
};

/** pack writes package.json beside the files that fill makes, and packs them. */
function pack(manifest, fill) {
  const folder = mkdtempSync(join(tmpdir(), "deskbell-npm-"));
  try {
    mkdirSync(join(folder, "bin"));
    fill(folder);
    copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
    writeFileSync(join(folder, "package.json"), JSON.stringify(manifest, null, 2) + "\n");
    // npm gives all files one date, so that the same files make the same package.
    const out = execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", dist], {
      cwd: folder,
      encoding: "utf8",
      shell: process.platform === "win32",
    });
    console.log(join("build/dist", out.trim()));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

mkdirSync(dist, { recursive: true });
const packed = {};
for (const pair of given) {
  const [platform, from] = pair.split("=");
  const p = platforms.find((p) => p.platform === platform);
  if (!p || !from) throw new Error(`${pair}: want PLATFORM=FOLDER, with one of ${platforms.map((p) => p.platform).join(", ")}`);
  const name = `@deskbell/${platform}`;
  const manifest = { name, description: `The programs of Deskbell for ${platform}`, ...about, os: [p.os], cpu: [p.cpu], preferUnplugged: true };
  if (p.libc) manifest.libc = [p.libc];
  pack(manifest, (folder) => {
    for (const program of ["deskbell", "deskbell-hook", ...(p.also ?? [])]) {
      const to = join(folder, "bin", program + p.suffix);
      copyFileSync(join(from, program + p.suffix), to);
      chmodSync(to, 0o755);
    }
  });
  packed[name] = version;
}

const manifest = {
  name: "deskbell",
  description: "Lets AI agents ask a human",
  keywords: ["mcp", "agents", "human-in-the-loop", "approval"],
  ...about,
  bin: { deskbell: "bin/deskbell.js", "deskbell-hook": "bin/deskbell-hook.js" },
  optionalDependencies: packed,
};
pack(manifest, (folder) => {
  const launcher = join(here, "launcher");
  for (const name of ["deskbell.js", "deskbell-hook.js"]) {
    cpSync(join(launcher, name), join(folder, "bin", name));
    chmodSync(join(folder, "bin", name), 0o755);
  }
  for (const name of ["run.js", "README.md"]) cpSync(join(launcher, name), join(folder, name));
  cpSync(join(here, "platforms.json"), join(folder, "platforms.json"));
});
