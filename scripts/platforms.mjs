// The steps that type-check the workspace for the other two systems, from Linux.
//
// The tray application brings some 400 crates: the first check of it takes minutes, later ones seconds. So the everyday
// run checks it when that has been paid for, or when nobody is waiting, and the headless crates always.

import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";

import { command } from "./command.mjs";
import { cacheDir, env } from "./env.mjs";

const targets = [
  { name: "macos", triple: "aarch64-apple-darwin" },
  { name: "windows", triple: "x86_64-pc-windows-gnu" },
];

export const headless = ["evermoor-core", "evermoor-platform", "evermoor-client", "evermoor-gateway", "evermoor"];

const CANNOT = 3;
const cache = env.EVERMOOR_XCHECK_CACHE || path.join(cacheDir(process.platform, env), "xcheck");
const mark = (triple) => path.join(cache, `whole-${triple}`);

export function isWarm(triple) {
  return existsSync(mark(triple));
}

/** The arguments of one check: of everything, or of what runs without a display. */
export function checkArguments(triple, whole) {
  const scope = whole ? ["--workspace"] : headless.flatMap((name) => ["-p", name]);
  return [triple, "--locked", ...scope];
}

/** `strict`: everything, and a machine that cannot check is a failure. */
export function platformSteps({ system, ci, warm, strict }) {
  return targets.map(({ name, triple }) => {
    const whole = strict || Boolean(ci) || warm(triple);
    return {
      name,
      command: command("scripts/xcheck", checkArguments(triple, whole)),
      skip: system === "linux" ? undefined : "it is checked from Linux only",
      unavailable: strict ? undefined : CANNOT,
      after: whole ? () => writeFileSync(mark(triple), "") : undefined,
    };
  });
}
