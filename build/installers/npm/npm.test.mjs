// The npm packages as users get them: from a registry (this process, on loopback), with npm's own resolution of optional
// dependencies, and run. `make test-npm` gives the tarballs' folder and version.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";

const dist = resolve(process.env.DESKBELL_DIST ?? "build/dist");
const version = process.env.DESKBELL_VERSION;
const root = mkdtempSync(join(tmpdir(), "deskbell-npm-test-"));
const data = join(root, "data");
const prefix = join(root, "prefix");
const installed = join(prefix, "lib/node_modules/deskbell");
const launcher = join(prefix, "bin/deskbell");

// Nothing of the developer's: no settings of npm, no data folder, no display.
const env = {
  PATH: process.env.PATH, HOME: root, TMPDIR: root, DESKBELL_DATA: data,
  npm_config_cache: join(root, "cache"), npm_config_update_notifier: "false", npm_config_fund: "false", npm_config_audit: "false",
};

/** npmRegistry answers for the packages in dist as the public registry does, and for nothing else. */
function npmRegistry() {
  const documents = new Map();
  const files = new Map();
  for (const file of readdirSync(dist).filter((f) => f.endsWith(`-${version}.tgz`))) {
    const bytes = readFileSync(join(dist, file));
    const manifest = JSON.parse(execFileSync("tar", ["-xzOf", join(dist, file), "package/package.json"], { encoding: "utf8" }));
    files.set(`/files/${file}`, bytes);
    documents.set(manifest.name, (base) => ({
      name: manifest.name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist: {
        tarball: `${base}/files/${file}`,
        integrity: "sha512-" + createHash("sha512").update(bytes).digest("base64"),
        shasum: createHash("sha1").update(bytes).digest("hex"),
      } } },
    }));
  }
  const asked = [];
  const server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://registry").pathname);
    asked.push(path);
    const document = documents.get(path.slice(1));
    if (files.has(path)) response.end(files.get(path));
    else if (document) response.setHeader("content-type", "application/json").end(JSON.stringify(document(env.npm_config_registry)));
    else response.writeHead(404).end("{}");
  });
  return { server, asked, names: [...documents.keys()].sort() };
}

const registry = npmRegistry();
const started = [];

/** run starts a program beside the registry and waits for its end. */
async function run(command, args, options = {}) {
  const child = spawn(command, args, { env: { ...env, ...options.env }, cwd: options.cwd ?? root, stdio: "pipe" });
  started.push(child);
  let out = "", err = "";
  child.stdout.on("data", (d) => (out += d));
  child.stderr.on("data", (d) => (err += d));
  child.stdin.end(options.input ?? "");
  const [code, signal] = await once(child, "close");
  return { code, signal, out, err };
}

/** serve starts a server through the launcher, and waits until it is ready. */
async function serve(...node) {
  const child = spawn(process.execPath, [...node, launcher, "serve", "--json", "--addr", "127.0.0.1:0"], { env, stdio: ["ignore", "pipe", "inherit"] });
  started.push(child);
  const lines = createInterface(child.stdout);
  const [line] = await Promise.race([once(lines, "line"), once(child, "exit").then(([code, signal]) => { throw new Error(`the server ended: ${code} ${signal}`); })]);
  assert.match(JSON.parse(line).url, /^http:/);
  return { child };
}

before(async () => {
  assert.ok(version, "DESKBELL_VERSION is not set");
  registry.server.listen(0, "127.0.0.1");
  await once(registry.server, "listening");
  env.npm_config_registry = `http://127.0.0.1:${registry.server.address().port}`;
  const done = await run("npm", ["install", "--global", "--prefix", prefix, "deskbell"]);
  assert.equal(done.code, 0, done.err);
});

after(async () => {
  // The launcher hands SIGTERM on; SIGKILL it could not.
  const running = started.filter((child) => child.exitCode === null && child.signalCode === null);
  await Promise.all(running.map((child) => { child.kill("SIGTERM"); return once(child, "exit"); }));
  registry.server.close();
  rmSync(root, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
});

test("npm installs this platform's programs and no other's", () => {
  assert.ok(registry.names.length > 2, `another platform's package must be there to be left out: ${registry.names}`);
  assert.deepEqual(readdirSync(join(installed, "node_modules/@deskbell")), ["linux-x64"]);
  assert.ok(registry.asked.some((path) => path.includes("win32-x64")), "npm did not look at the package for Windows");
  assert.ok(!registry.asked.some((path) => path.startsWith("/files/deskbell-win32")), "npm downloaded the package for Windows");
});

test("the package for Windows has the program without a console, and the icon", () => {
  const package_ = join(root, "win32");
  mkdirSync(package_);
  execFileSync("tar", ["-xzf", join(dist, `deskbell-win32-x64-${version}.tgz`), "-C", package_]);
  const bin = join(package_, "package/bin");
  assert.deepEqual(readdirSync(bin).sort(), ["deskbell-hook.exe", "deskbell.exe", "deskbellw.exe"]);
  const icon = readFileSync("build/windows/icon.ico");
  const picture = icon.subarray(icon.readUInt32LE(18), icon.readUInt32LE(18) + icon.readUInt32LE(14)); // the first in the file
  assert.ok(picture.length > 100);
  for (const program of readdirSync(bin)) assert.ok(readFileSync(join(bin, program)).includes(picture), `${program} has no icon`);
});

test("both programs say their version", async () => {
  for (const name of ["deskbell", "deskbell-hook"]) {
    const said = await run(join(prefix, "bin", name), ["--version"]);
    assert.equal(said.code, 0, said.err);
    assert.ok(said.out.includes(version), `${name} says ${said.out}, want ${version}`);
  }
});

test("exit codes pass through", async () => {
  const none = await run(launcher, ["nonesuch"]);
  assert.equal(none.code, 3);
  assert.match(none.err, /nonesuch/);
});

test("a project's npx sends a request and speaks MCP; a signal ends the server in order", { timeout: 240_000 }, async () => {
  const { child } = await serve();
  const project = join(root, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "name": "project", "private": true }');
  const added = await run("npm", ["install", "deskbell"], { cwd: project });
  assert.equal(added.code, 0, added.err);

  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } } };
  const client = spawn("npx", ["--no", "deskbell", "mcp"], { env, cwd: project, stdio: ["pipe", "pipe", "inherit"] });
  started.push(client);
  const replies = createInterface(client.stdout)[Symbol.asyncIterator]();
  const reply = async (message) => {
    client.stdin.write(JSON.stringify(message) + "\n");
    return JSON.parse((await replies.next()).value);
  };
  assert.equal((await reply(initialize)).result.serverInfo.name, "deskbell");
  client.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  const tools = (await reply({ jsonrpc: "2.0", id: 2, method: "tools/list" })).result.tools.map((t) => t.name);
  assert.ok(tools.includes("human"), `tools: ${tools}`);
  const call = async (id, args) => JSON.parse((await reply({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "human", arguments: args } })).result.content[0].text);
  const asked = await call(3, { action: "invoke", action_type: "feedback", description: "Is the package good?" });
  const pending = await call(4, { action: "list_pending" });
  assert.ok(JSON.stringify(pending).includes(asked.operation_id), `${asked.operation_id} is not pending: ${JSON.stringify(pending)}`);
  client.stdin.end();
  await once(client, "exit");

  child.kill("SIGTERM");
  assert.deepEqual(await once(child, "exit"), [0, null]);
  assert.ok(!existsSync(join(data, "server.json")), "the server did not end in order");
});

test("a program that a signal ends, ends the launcher by the same signal", async () => {
  const { child } = await serve();
  const { pid } = JSON.parse(readFileSync(join(data, "server.json"), "utf8"));
  assert.notEqual(pid, child.pid);
  process.kill(pid, "SIGKILL");
  assert.deepEqual(await once(child, "exit"), [null, "SIGKILL"]);
});

test("what is missing is said, with what to do", async () => {
  const bare = join(root, "bare");
  cpSync(prefix, bare, { recursive: true, verbatimSymlinks: true });
  rmSync(join(bare, "lib/node_modules/deskbell/node_modules"), { recursive: true });
  const omitted = await run(join(bare, "bin/deskbell"), ["--version"]);
  assert.equal(omitted.code, 3);
  assert.match(omitted.err, /@deskbell\/linux-x64.*is not installed[\s\S]*--include=optional/);

  const sunos = join(root, "sunos.cjs");
  writeFileSync(sunos, 'Object.defineProperty(process, "platform", { value: "sunos" });');
  const unknown = await run(process.execPath, ["--require", sunos, launcher, "--version"]);
  assert.equal(unknown.code, 3);
  assert.match(unknown.err, /no program for sunos-x64 on npm; there are: linux-x64, win32-x64/);

  const damaged = join(root, "damaged");
  cpSync(prefix, damaged, { recursive: true, verbatimSymlinks: true });
  rmSync(join(damaged, "lib/node_modules/deskbell/node_modules/@deskbell/linux-x64/bin/deskbell"));
  const gone = await run(join(damaged, "bin/deskbell"), ["--version"]);
  assert.equal(gone.code, 3);
  assert.match(gone.err, /is missing\. Install Deskbell again/);
});

const sandbox = ["--dev-bind", "/", "/"];
const separated = spawnSync("bwrap", [...sandbox, "true"]).status === 0;

test("a system without WebKitGTK is told which packages to install", { skip: !separated && "bubblewrap cannot make namespaces here" }, async () => {
  const library = /libwebkit2gtk-4\.\d\.so\.\d+ => (\S+)/.exec(execFileSync("ldd", [join(installed, "node_modules/@deskbell/linux-x64/bin/deskbell")], { encoding: "utf8" }))[1];
  const lacking = await run("bwrap", [...sandbox, "--ro-bind", "/dev/null", library, process.execPath, launcher, "--version"]);
  assert.equal(lacking.code, 127);
  assert.match(lacking.err, /webkit2gtk/);
  assert.match(lacking.err, /needs GTK 3 and WebKitGTK 4\.1[\s\S]*apt install/);
});
