// The steps that lint the workspace for macOS and Windows, and run the tests for Windows, from Linux.
//
// The tray has some 400 crates: its first check takes minutes, later ones seconds. So the usual run always lints the
// headless crates, and the tray only on CI or if it was linted before. The tests for Windows are compiled a second time, which
// also takes minutes when nothing is in the cache. So they run where they have passed once.

import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";

import { command } from "../run/command.mjs";
import { cacheDir, env } from "../machine/env.mjs";

const windows = "x86_64-pc-windows-gnu";
const targets = [
  { name: "macos", triple: "aarch64-apple-darwin" },
  { name: "windows", triple: windows },
];

/** The crates that need no display. */
export const headless = ["evermoor-core", "evermoor-platform", "evermoor-log", "evermoor-setup", "evermoor-client", "evermoor-gateway", "evermoor", "evermoor-tests"];

/** The crates whose tests run with wine. The scenarios try the gateway as a program; its own tests would compile it a second time. */
export const tested = headless.filter((name) => name !== "evermoor-gateway");

const CANNOT = 3;
const cache = env.EVERMOOR_XCHECK_CACHE || path.join(cacheDir(process.platform, env), "xcheck");
const mark = (what) => path.join(cache, `whole-${what}`);
const packages = (names) => names.flatMap((name) => ["-p", name]);

export function isWarm(what) {
  return existsSync(mark(what));
}

/** The arguments of one check: of everything, or of the crates that need no display. */
export function checkArguments(triple, whole) {
  return [triple, "clippy", "--locked", "--all-targets", ...(whole ? ["--workspace"] : packages(headless))];
}

/** `strict`: check everything, and fail on a machine that cannot check. */
export function platformSteps({ system, ci, warm, strict }) {
  const skip = system === "linux" ? undefined : "this check runs only on Linux";
  const unavailable = strict ? undefined : CANNOT;
  const remember = (what) => () => writeFileSync(mark(what), "");
  const lints = targets.map(({ name, triple }) => {
    const whole = strict || Boolean(ci) || warm(triple);
    const line = command("scripts/xcheck", checkArguments(triple, whole));
    return { name, command: line, skip, unavailable, after: whole ? remember(triple) : undefined };
  });
  const wanted = strict || warm("wine");
  const cold = wanted ? undefined : "its first run takes minutes: run npm run check:platforms once";
  const tests = [
    // The tests start these programs. By itself, cargo builds only those of the package under test.
    { name: "wine-build", command: command("scripts/xcheck", [windows, "build", "--locked", ...packages(tested), "--bins", "--tests"]), skip: skip || cold, unavailable },
    { name: "wine", command: command("scripts/xcheck", [windows, "test", "--locked", ...packages(tested)]), skip: skip || cold, unavailable, after: remember("wine") },
    { name: "installer", command: command("scripts/package/test-installer", []), skip: skip || cold, unavailable },
  ];
  return [...lints, ...tests];
}
