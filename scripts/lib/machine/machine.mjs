// Checks that this machine can build Evermoor, and says what to install if not.

import { accessSync, constants, readFileSync } from "node:fs";
import path from "node:path";

import { ask } from "../run/command.mjs";
import { env, root } from "./env.mjs";
import { atLeast, findVersion } from "../checks/version.mjs";

const NODE = "20.19";
// The minimum for the packages in tests/peers/requirements.txt.
const PYTHON = "3.10";

/** Something is missing that only the user can install. The message says what to do. */
export class Unready extends Error {}

export function nodeComplaint(version, again) {
  if (atLeast(version, NODE)) return undefined;
  return `Evermoor needs Node ${NODE} or newer and this is ${version}: install it from nodejs.org, then run ${again} again.`;
}

/** `printed` is the output of `cargo --version`, undefined if it fails; `rustup`, whether rustup is installed. */
export function rustComplaint(printed, rustup, wanted, again) {
  if (printed === undefined && rustup) {
    return `Evermoor needs Rust ${wanted}: run rustup toolchain install ${wanted}, then run ${again} again.`;
  }
  if (printed === undefined) return `Evermoor needs Rust: install it from rustup.rs, then run ${again} again.`;
  const version = findVersion(printed);
  if (version && atLeast(version, wanted)) return undefined;
  return `Evermoor needs Rust ${wanted} or newer and this is ${version}: install it from rustup.rs, then run ${again} again.`;
}

/** `printed` is the output of `python3 --version`, undefined if it fails. */
export function pythonComplaint(printed, again) {
  const version = printed && findVersion(printed);
  if (version && atLeast(version, PYTHON)) return undefined;
  const found = version ? ` and this is ${version}` : "";
  return `Evermoor's tests need Python ${PYTHON} or newer${found}: install it from python.org, then run ${again} again.`;
}

/** The command that the user typed. */
export function thisCommand(script = process.env.npm_lifecycle_event) {
  if (!script) return "the command";
  return script === "start" || script === "test" ? `npm ${script}` : `npm run ${script}`;
}

export function hasProgram(name) {
  const search = Object.keys(env).find((key) => key.toUpperCase() === "PATH");
  const names = process.platform === "win32" ? [`${name}.exe`, `${name}.cmd`] : [name];
  return (env[search] || "").split(path.delimiter).some((folder) =>
    names.some((file) => {
      try {
        accessSync(path.join(folder, file), constants.X_OK);
        return folder !== "";
      } catch {
        return false;
      }
    }),
  );
}

export function checkMachine() {
  const again = thisCommand();
  const wanted = findVersion(readFileSync(path.join(root, "rust-toolchain.toml"), "utf8"));
  const complaint =
    nodeComplaint(process.versions.node, again) ||
    rustComplaint(ask("cargo", "--version"), hasProgram("rustup"), wanted, again);
  if (complaint) throw new Unready(complaint);
  if (process.platform === "darwin" && ask("xcode-select", "-p") === undefined) {
    throw new Unready(`Evermoor needs Apple's command line tools: run xcode-select --install, then run ${again} again.`);
  }
}
