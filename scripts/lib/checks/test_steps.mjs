// The steps of `npm test` and `npm run check`, cheapest first.

import { readdirSync } from "node:fs";
import path from "node:path";

import { besideInstalledInstance } from "./installed_instance.mjs";
import { cargo, command, npx } from "../run/command.mjs";
import { findBrowser } from "../machine/chromium.mjs";
import { buildDashboard } from "./dashboard.mjs";
import { root } from "../machine/env.mjs";
import { hasProgram } from "../machine/machine.mjs";
import { platformSteps } from "./platforms.mjs";
import { colour } from "../run/terminal.mjs";

// The same features in every step, so nothing is compiled twice.
const all = ["--workspace", "--locked"];

const steps = {
  scripts: testScripts,
  // rustfmt colours its diff even when it writes to a file.
  format: () => ({ name: "format", command: cargo("fmt", "--all", "--check", ...(colour ? [] : ["--", "--color", "never"])) }),
  dashboard: buildDashboard,
  types: () => ({ name: "types", command: npx("svelte-check", ["--tsconfig", "ui/tsconfig.json", "--fail-on-warnings"]) }),
  ui: () => ({ name: "ui", command: npx("vitest", ["run", "--root", "ui"]) }),
  lint: () => ({ name: "lint", command: cargo("clippy", ...all, "--all-targets", "--", "-D", "warnings") }),
  // Errors only: the warnings about two versions of one crate would fill a page on every run.
  licences: () => ({ name: "licences", command: cargo("deny", "--locked", "--log-level", "error", "check", "bans", "licenses", "sources") }),
  // The tests start these programs. By itself, cargo builds only those of the package under test.
  build: () => ({ name: "build", command: cargo("build", ...all, "--bins", "--tests") }),
  browser: testBrowser,
  unit: () => ({ name: "unit", command: cargo("nextest", "run", ...all, "-E", "not package(evermoor-tests)") }),
  tests: () => ({ name: "tests", command: cargo("nextest", "run", ...all), around: besideInstalledInstance }),
  package: testPackage,
};

function testScripts() {
  // Lists each file, because versions of Node differ in what `node --test` does with a folder or a pattern.
  const files = readdirSync(path.join(root, "scripts"), { recursive: true }).filter((name) => name.endsWith(".test.mjs"));
  const args = ["--test", "--test-reporter=dot", ...files.map((name) => path.join("scripts", name))];
  return { name: "scripts", command: command(process.execPath, args, { shown: "node --test scripts/**/*.test.mjs" }) };
}

/** Tests the dashboard in a real browser, with the gateway that `build` built. */
function testBrowser() {
  const folder = "tests/browser";
  const files = readdirSync(path.join(root, folder)).filter((name) => name.endsWith(".test.mjs"));
  const args = ["--test", "--test-reporter=spec", ...files.map((name) => `${folder}/${name}`)];
  return {
    name: "browser",
    command: command(process.execPath, args, { shown: `node --test ${folder}/*.test.mjs` }),
    before: () => (findBrowser() ? undefined : "there is no Chromium on this machine"),
    around: besideInstalledInstance,
  };
}

function testPackage() {
  const line = command(process.execPath, ["scripts/package/test-package.mjs"], { shown: "node scripts/package/test-package.mjs" });
  const before = () => (hasProgram("dpkg") ? undefined : "only the Debian package is tested");
  return { name: "package", command: line, before, around: besideInstalledInstance };
}

const pick = (...names) => names.map((name) => steps[name]());

/** The steps of `npm run check`, which start no Evermoor program. */
export function quickSteps() {
  return pick("scripts", "format", "dashboard", "types", "ui", "lint", "unit");
}

/** The steps of `npm test`. `facts` are the arguments of `platformSteps`. */
export function fullSteps(facts) {
  return [
    ...pick("scripts", "format", "dashboard", "types", "ui", "lint", "licences", "build", "browser", "tests", "package"),
    ...platformSteps(facts),
  ];
}
