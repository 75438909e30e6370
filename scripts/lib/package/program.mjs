// Where the bundler finds the command line program and its shim: in dist/, because the build folder can be anywhere. There is
// no shim on Windows.
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

/** The programs that are installed beside the tray. */
export function installed(system) {
  return system === "win32" ? ["evermoor"] : ["evermoor", "evermoor-shim"];
}

/** The name of a program in dist/. */
export function placedName(system, target, program = "evermoor") {
  if (system === "darwin") return `${program}-${target}`;
  return system === "win32" ? `${program}.exe` : program;
}

/** The target of this machine in the output of `rustc -vV`. */
export function hostIn(version) {
  return /^host: (\S+)$/m.exec(version ?? "")?.[1];
}

/** Copies the programs that cargo built to where the bundler looks for them. */
export function place(system, target, host) {
  mkdirSync(path.join(root, "dist"), { recursive: true });
  for (const program of installed(system)) {
    const name = system === "win32" ? `${program}.exe` : program;
    const built = path.join(env.CARGO_TARGET_DIR, ...(target ? [target] : []), "release", name);
    copyFileSync(built, path.join(root, "dist", placedName(system, target ?? host, program)));
  }
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
  const joined = installed(system).map((program) => {
    const placed = (one) => path.join("dist", placedName(system, one, program));
    return { name: `universal ${program}`, command: command("lipo", ["-create", "-output", placed(universal), ...targets.map(placed)]) };
  });
  return [...steps, ...joined];
}
