// Starts the program for this platform, which npm installed as an optional dependency, in place of this script: same
// arguments, terminal, exit code and signals.
"use strict";

const { spawn } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");

// The exit code of the program's own errors.
const EXIT_ERROR = 3;
// What the shell and the dynamic linker say when a program cannot be loaded.
const EXIT_CANNOT_LOAD = 127;

const libraries = `Deskbell needs GTK 3 and WebKitGTK 4.1 on Linux. Install them, then try again:
  Debian, Ubuntu:  sudo apt install libgtk-3-0 libwebkit2gtk-4.1-0
  Fedora:          sudo dnf install gtk3 webkit2gtk4.1
  Arch:            sudo pacman -S gtk3 webkit2gtk-4.1
  openSUSE:        sudo zypper install libgtk-3-0 libwebkit2gtk-4_1-0`;

function fail(text) {
  process.stderr.write(`deskbell: ${text}\n`);
  process.exit(EXIT_ERROR);
}

// program is the path of a program of the platform's package.
function program(name) {
  const platforms = require("./platforms.json");
  const here = `${process.platform}-${process.arch}`;
  const found = platforms.find((p) => p.platform === here);
  if (!found) {
    fail(`there is no program for ${here} on npm; there are: ${platforms.map((p) => p.platform).join(", ")}.`);
  }
  if (found.libc === "glibc" && !process.report.getReport().header.glibcVersionRuntime) {
    fail("the program on npm needs glibc, and this system has another C library. On Alpine, install Deskbell's apk package instead.");
  }
  const pack = `@deskbell/${here}`;
  let folder;
  try {
    folder = path.dirname(require.resolve(`${pack}/package.json`));
  } catch {
    fail(`the package ${pack}, which holds the program, is not installed. npm leaves it out with --omit=optional, and when
node_modules was copied from another system. Install it again here:
  npm install --include=optional deskbell            (in a project)
  npm install --global --include=optional deskbell   (for the user)`);
  }
  const file = path.join(folder, "bin", name + found.suffix);
  if (!fs.existsSync(file)) fail(`${file} is missing. Install Deskbell again:\n  npm install --global --force deskbell`);
  return file;
}

/** run starts a program and ends this process as it ends. */
module.exports = function run(name) {
  const child = spawn(program(name), process.argv.slice(2), { stdio: "inherit" });
  // Ctrl-C in a terminal reaches the program by itself; this process only has to outlive it. Windows knows no other signals.
  const signals = process.platform === "win32" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2", "SIGCONT", "SIGWINCH"];
  for (const signal of signals) {
    process.on(signal, () => {
      const terminal = process.stdin.isTTY && (signal === "SIGINT" || signal === "SIGQUIT" || signal === "SIGWINCH");
      if (!terminal && process.platform !== "win32") child.kill(signal);
    });
  }
  child.on("error", (err) => fail(`${child.spawnfile} cannot be started: ${err.message}`));
  child.on("exit", (code, signal) => {
    for (const s of signals) process.removeAllListeners(s);
    if (signal) {
      process.kill(process.pid, signal);
      // Where the signal does not end this process, such as one that is ignored.
      process.exitCode = 128 + os.constants.signals[signal];
      return;
    }
    if (code === EXIT_CANNOT_LOAD && process.platform === "linux") process.stderr.write(`deskbell: ${libraries}\n`);
    process.exitCode = code;
  });
};
