// Commands as values that can be displayed and run.

import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { constants } from "node:os";
import path from "node:path";

import { env, root } from "../machine/env.mjs";

const parent = process.ppid;

/** A command. `shown` is what a user would type in `cwd`. */
export function command(program, args, options = {}) {
  return { program, args, shown: [program, ...args].map(quoted).join(" "), cwd: root, env: {}, ...options };
}

export function cargo(...args) {
  return command("cargo", args);
}

/** A program of an npm package, started without node_modules/.bin, which needs a shell on Windows. */
export function npx(name, args, from = name) {
  const folder = path.join(root, "node_modules", from);
  return command(process.execPath, args, {
    shown: ["npx", name, ...args].map(quoted).join(" "),
    // Read when the command runs, because the package may not be installed before.
    lead: () => {
      const { bin } = JSON.parse(readFileSync(path.join(folder, "package.json"), "utf8"));
      return [path.join(folder, typeof bin === "string" ? bin : bin[name])];
    },
  });
}

/** The npm that runs this script. */
export function npm(args, options = {}) {
  const shown = ["npm", ...args].join(" ");
  const self = process.env.npm_execpath;
  if (self && path.basename(self).startsWith("npm")) return command(process.execPath, [self, ...args], { shown, ...options });
  return command("npm", args, { shown, shell: process.platform === "win32", ...options });
}

/**
 * Runs in the foreground and resolves to the exit status. The program gets Ctrl-C from the terminal; this process waits
 * until it exits. SIGTERM and SIGHUP are passed on, and so is the end of npm, because the shell between npm and this
 * process does not forward signals.
 */
export function run({ program, args, lead, cwd, env: extra, shell = false }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...(lead ? lead() : []), ...args], { cwd, env: { ...env, ...extra }, shell, stdio: "inherit" });
    const ignore = () => {};
    const pass = (signal) => child.kill(signal);
    process.on("SIGINT", ignore).on("SIGTERM", pass).on("SIGHUP", pass);
    const orphaned = () => process.env.npm_lifecycle_event && process.ppid !== parent && pass("SIGTERM");
    const watch = setInterval(orphaned, 500);
    const done = () => {
      clearInterval(watch);
      process.off("SIGINT", ignore).off("SIGTERM", pass).off("SIGHUP", pass);
    };
    child.once("error", (error) => {
      done();
      reject(error);
    });
    child.once("exit", (code, signal) => {
      done();
      resolve(signal ? 128 + constants.signals[signal] : code);
    });
  });
}

/** The output of a program, or undefined if it is missing or fails. */
export function ask(program, ...args) {
  const { status, stdout } = spawnSync(program, args, { cwd: root, env, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] });
  return status === 0 ? stdout.trim() : undefined;
}

function quoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`;
}
