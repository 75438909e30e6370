// Where the bundler finds the command line program: in dist/, because the build folder can be anywhere.
//
// On macOS the name ends with the target, as for every program that the bundler is to sign. A universal program contains
// those for both processors; the bundler's build scripts want each of them as well.

import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";

import { cargo, command } from "../run/command.mjs";
import { env, root } from "../machine/env.mjs";

const universal = "universal-apple-darwin";

/** The value of `--target` in the arguments of the bundler. */
export function targetIn(args) {
  const at = args.findIndex((arg) => arg === "--target" || arg === "-t");
  return at >= 0 ? args[at + 1] : args.find((arg) => arg.startsWith("--target="))?.slice("--target=".length);
}

/** The targets to compile for; undefined means this machine. */
export function compiledFor(target) {
  return target === universal ? ["aarch64-apple-darwin", "x86_64-apple-darwin"] : [target];
}

/** The name of the program in dist/. */
export function placedName(system, target) {
  if (system === "darwin") return `evermoor-${target}`;
  return system === "win32" ? "evermoor.exe" : "evermoor";
}

/** The target of this machine in the output of `rustc -vV`. */
export function hostIn(version) {
  return /^host: (\S+)$/m.exec(version ?? "")?.[1];
}

/** Copies the program that cargo built to where the bundler looks for it. */
export function place(system, target, host) {
  const name = system === "win32" ? "evermoor.exe" : "evermoor";
  const built = path.join(env.CARGO_TARGET_DIR, ...(target ? [target] : []), "release", name);
  mkdirSync(path.join(root, "dist"), { recursive: true });
  copyFileSync(built, path.join(root, "dist", placedName(system, target ?? host)));
}

/** The steps that compile the program and place it. */
export function programSteps(system, target, host) {
  const targets = compiledFor(target);
  const steps = targets.map((one) => ({
    name: one && targets.length > 1 ? `program for ${one}` : "program",
    command: cargo("build", "--release", "--locked", "-p", "evermoor", ...(one ? ["--target", one] : [])),
    after: () => place(system, one, host),
  }));
  if (target !== universal) return steps;
  const placed = (one) => path.join("dist", placedName(system, one));
  return [...steps, { name: "universal program", command: command("lipo", ["-create", "-output", placed(universal), ...targets.map(placed)]) }];
}
