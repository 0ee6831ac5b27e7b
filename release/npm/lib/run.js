"use strict";
// Starts a program of the platform's package with the same arguments, and ends as it ends.

const { spawn } = require("node:child_process");
const { constants } = require("node:os");
const path = require("node:path");

const platform = `${process.platform}-${process.arch}`;

/** The path of a program, or undefined where the platform's package is not installed. */
function find(program) {
  try {
    const root = path.dirname(require.resolve(`@cmemd/${platform}/package.json`));
    return path.join(root, "bin", process.platform === "win32" ? `${program}.exe` : program);
  } catch {
    return undefined;
  }
}

function missing() {
  const known = Object.keys(require("../package.json").optionalDependencies);
  if (!known.includes(`@cmemd/${platform}`)) {
    return `cmemd: there is no npm package for ${platform}, but for ${known.map((name) => name.slice("@cmemd/".length)).join(", ")}.
  With Go it can be built here: go install github.com/cmemd/cmemd/cmd/cmemd@latest github.com/cmemd/cmemd/cmd/cmemd-hook@latest`;
  }
  return `cmemd: its package with the programs for this machine, @cmemd/${platform}, is not installed. Most often it could not be fetched
whole, of which npm says nothing, or npm was told to leave out optional dependencies (--omit=optional, --no-optional, or omit in .npmrc),
or node_modules came from another kind of machine.
  ${remedy()}
  Or without npm: https://github.com/cmemd/cmemd/releases has an install script, archives and packages.`;
}

/** What brings the platform's package. npx uses the folder that it once made for a command again and again, whatever that lacks. */
function remedy() {
  const folders = __dirname.split(path.sep);
  const npx = folders.lastIndexOf("_npx");
  if (npx < 0) return "Install it anew with them: npm install --global --include=optional cmemd";
  return `Remove the folder ${folders.slice(0, npx + 2).join(path.sep)}, which npx keeps as it is, and run the same command again.`;
}

/** Says why nothing could be started. cmemd-hook must never fail the agent that started it. */
function fail(program, why) {
  process.stderr.write(`${why}\n`);
  process.exitCode = program === "cmemd-hook" ? 0 : 1;
}

/**
 * Ends this process by the signal that ended the child, so that who waits sees the same. Node.js ignores some of them, SIGPIPE among
 * them: where it is still there after a moment it ends with the number that shells have for the signal.
 */
function die(signal) {
  process.removeAllListeners(signal);
  setTimeout(() => process.exit(128 + constants.signals[signal]), 200);
  process.kill(process.pid, signal);
}

module.exports = function run(program) {
  const file = find(program);
  if (file === undefined) {
    fail(program, missing());
    return;
  }
  const child = spawn(file, process.argv.slice(2), { stdio: "inherit" });
  // What is typed at a terminal reaches the child by itself; a second copy would be a second signal.
  const terminal = [0, 1, 2].some((fd) => require("node:tty").isatty(fd));
  for (const signal of ["SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      if (!terminal || signal === "SIGTERM" || signal === "SIGHUP") child.kill(signal);
    });
  }
  child.on("error", (err) => {
    fail(program, `cmemd: ${file} does not start: ${err.message}\n  Install it anew: npm install --global --include=optional cmemd`);
  });
  child.on("exit", (code, signal) => {
    if (program === "cmemd-hook") process.exitCode = 0; // whatever became of it
    else if (signal) die(signal);
    else process.exitCode = code;
  });
};
