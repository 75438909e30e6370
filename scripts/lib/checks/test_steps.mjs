// All that is checked, in the order in which a mistake is cheapest to find.

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

// All packages with all their targets, always: one choice of features, so no step compiles what another has compiled.
const all = ["--workspace", "--locked"];

const steps = {
  scripts: testScripts,
  // rustfmt would paint a difference even into a file.
  format: () => ({ name: "format", command: cargo("fmt", "--all", "--check", ...(colour ? [] : ["--", "--color", "never"])) }),
  dashboard: buildDashboard,
  types: () => ({ name: "types", command: npx("svelte-check", ["--tsconfig", "ui/tsconfig.json", "--fail-on-warnings"]) }),
  ui: () => ({ name: "ui", command: npx("vitest", ["run", "--root", "ui"]) }),
  lint: () => ({ name: "lint", command: cargo("clippy", ...all, "--all-targets", "--", "-D", "warnings") }),
  // Two versions of one crate are worth a look now and then, not a page of warnings on every run.
  licences: () => ({ name: "licences", command: cargo("deny", "--locked", "--log-level", "error", "check", "bans", "licenses", "sources") }),
  // The tests start these programs, and cargo by itself builds only those of a test's own package.
  build: () => ({ name: "build", command: cargo("build", ...all, "--bins", "--tests") }),
  browser: testBrowser,
  unit: () => ({ name: "unit", command: cargo("nextest", "run", ...all, "-E", "not package(evermoor-tests)") }),
  tests: () => ({ name: "tests", command: cargo("nextest", "run", ...all), around: besideInstalledInstance }),
  package: testPackage,
};

function testScripts() {
  // Named one by one: what a folder or a pattern means to `node --test` differs between versions of Node.
  const files = readdirSync(path.join(root, "scripts"), { recursive: true }).filter((name) => name.endsWith(".test.mjs"));
  const args = ["--test", "--test-reporter=dot", ...files.map((name) => path.join("scripts", name))];
  return { name: "scripts", command: command(process.execPath, args, { shown: "node --test scripts/**/*.test.mjs" }) };
}

/** The dashboard in a real browser, against the gateway that `build` made. */
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
  const line = command(process.execPath, ["scripts/test-package.mjs"], { shown: "node scripts/test-package.mjs" });
  const before = () => (hasProgram("dpkg") ? undefined : "it is Debian's package that is tried");
  return { name: "package", command: line, before, around: besideInstalledInstance };
}

const pick = (...names) => names.map((name) => steps[name]());

/** What a change should pass before it is shown to anyone: no program is started. */
export function quickSteps() {
  return pick("scripts", "format", "dashboard", "types", "ui", "lint", "unit");
}

/** What a change must pass. `facts` are those of `platformSteps`. */
export function fullSteps(facts) {
  return [
    ...pick("scripts", "format", "dashboard", "types", "ui", "lint", "licences", "build", "browser", "tests", "package"),
    ...platformSteps(facts),
  ];
}
