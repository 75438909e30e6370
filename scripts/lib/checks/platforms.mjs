// The steps that type-check the workspace for macOS and Windows, from Linux.
//
// The tray has some 400 crates: its first check takes minutes, later ones seconds. So the usual run always checks the
// headless crates, and the tray only on CI or if it was checked before.

import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";

import { command } from "../run/command.mjs";
import { cacheDir, env } from "../machine/env.mjs";

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

/** The arguments of one check: of everything, or of the crates that need no display. */
export function checkArguments(triple, whole) {
  const scope = whole ? ["--workspace"] : headless.flatMap((name) => ["-p", name]);
  return [triple, "--locked", ...scope];
}

/** `strict`: check everything, and fail on a machine that cannot check. */
export function platformSteps({ system, ci, warm, strict }) {
  return targets.map(({ name, triple }) => {
    const whole = strict || Boolean(ci) || warm(triple);
    return {
      name,
      command: command("scripts/xcheck", checkArguments(triple, whole)),
      skip: system === "linux" ? undefined : "this check runs only on Linux",
      unavailable: strict ? undefined : CANNOT,
      after: whole ? () => writeFileSync(mark(triple), "") : undefined,
    };
  });
}
