// Whether this machine can build Evermoor at all; if not, the one sentence that says what to install.

import { accessSync, constants, readFileSync } from "node:fs";
import path from "node:path";

import { ask } from "./command.mjs";
import { env, root } from "./env.mjs";
import { atLeast, findVersion } from "./version.mjs";

const NODE = "20.19";
// What the oldest of the packages in tests/peers/requirements.txt runs on.
const PYTHON = "3.10";

/** A machine that lacks something only its owner can install. The message is the sentence to show. */
export class Unready extends Error {}

export function nodeComplaint(version, again) {
  if (atLeast(version, NODE)) return undefined;
  return `Evermoor needs Node ${NODE} or newer and this is ${version}: install it from nodejs.org, then run ${again} again.`;
}

/** `printed` is what `cargo --version` says, undefined when it fails; `rustup` tells whether there is a rustup. */
export function rustComplaint(printed, rustup, wanted, again) {
  if (printed === undefined && rustup) {
    return `Evermoor needs Rust ${wanted}: run rustup toolchain install ${wanted}, then run ${again} again.`;
  }
  if (printed === undefined) return `Evermoor needs Rust: install it from rustup.rs, then run ${again} again.`;
  const version = findVersion(printed);
  if (version && atLeast(version, wanted)) return undefined;
  return `Evermoor needs Rust ${wanted} or newer and this is ${version}: install it from rustup.rs, then run ${again} again.`;
}

/** `printed` is what `python3 --version` says, undefined when there is none. */
export function pythonComplaint(printed, again) {
  const version = printed && findVersion(printed);
  if (version && atLeast(version, PYTHON)) return undefined;
  const found = version ? ` and this is ${version}` : "";
  return `Evermoor's tests need Python ${PYTHON} or newer${found}: install it from python.org, then run ${again} again.`;
}

/** What a person typed to get here. */
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
