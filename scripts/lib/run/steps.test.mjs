import assert from "node:assert/strict";
import { test } from "node:test";

import { fullSteps, quickSteps } from "../checks/test_steps.mjs";
import { headless, tested } from "../checks/platforms.mjs";
import { choose, table } from "./steps.mjs";

const facts = { system: "linux", ci: undefined, warm: () => false, strict: false };
const names = (steps) => steps.map(({ name }) => name);
const step = (steps, name) => steps.find((one) => one.name === name);

test("the full run has the quick steps in the same order", () => {
  const full = names(fullSteps(facts));
  const shared = names(quickSteps()).filter((name) => full.includes(name));
  assert.deepEqual(shared, full.filter((name) => shared.includes(name)));
});

test("the dashboard is built before anything that embeds it", () => {
  const full = names(fullSteps(facts));
  for (const later of ["lint", "build", "tests", "macos"]) assert.ok(full.indexOf("dashboard") < full.indexOf(later));
});

test("every compilation uses the same locked packages", () => {
  for (const { name, command } of fullSteps(facts)) {
    if (["lint", "build", "tests"].includes(name)) assert.match(command.shown, /--workspace --locked/);
  }
});

test("the headless crates are always checked for the other systems", () => {
  for (const name of ["macos", "windows"]) {
    const { command } = step(fullSteps(facts), name);
    for (const crate of headless) assert.ok(command.args.includes(crate));
    assert.ok(!command.args.includes("--workspace"));
  }
});

test("the tray is checked too if it was checked before, or on CI", () => {
  const macosOnly = (triple) => triple.includes("apple");
  assert.ok(step(fullSteps({ ...facts, warm: macosOnly }), "macos").command.args.includes("--workspace"));
  assert.ok(!step(fullSteps({ ...facts, warm: macosOnly }), "windows").command.args.includes("--workspace"));
  assert.ok(step(fullSteps({ ...facts, ci: "true" }), "windows").command.args.includes("--workspace"));
});

test("the lints for other systems include the tests", () => {
  for (const name of ["macos", "windows"]) {
    const { command } = step(fullSteps(facts), name);
    assert.ok(command.args.includes("clippy") && command.args.includes("--all-targets"));
  }
});

test("the tests for Windows run in strict mode, and if they passed before", () => {
  for (const name of ["wine-build", "wine", "installer"]) {
    for (const fewer of [{}, { ci: "true" }]) {
      assert.match(step(fullSteps({ ...facts, ...fewer }), name).skip, /check:platforms/);
    }
    for (const more of [{ strict: true }, { warm: (what) => what === "wine" }]) {
      assert.equal(step(fullSteps({ ...facts, ...more }), name).skip, undefined);
    }
  }
});

test("the programs that the tests for Windows start are built before, with the same packages", () => {
  const full = fullSteps({ ...facts, ci: "true" });
  assert.ok(names(full).indexOf("wine-build") < names(full).indexOf("wine"));
  const [build, run] = ["wine-build", "wine"].map((name) => step(full, name).command.args);
  for (const crate of tested) assert.ok(build.includes(crate) && run.includes(crate));
});

test("other systems are checked only on Linux, and skipped with a reason elsewhere", () => {
  assert.equal(step(fullSteps(facts), "macos").skip, undefined);
  assert.match(step(fullSteps({ ...facts, system: "darwin" }), "windows").skip, /Linux/);
});

test("a machine that cannot check other systems fails only in strict mode", () => {
  assert.equal(step(fullSteps(facts), "macos").unavailable, 3);
  assert.equal(step(fullSteps({ ...facts, strict: true }), "macos").unavailable, undefined);
});

test("steps are chosen by name, all by default, and an unknown name is an error", () => {
  const steps = quickSteps();
  assert.equal(choose(steps, []).length, steps.length);
  assert.deepEqual(names(choose(steps, ["unit", "lint"])), ["lint", "unit"]);
  assert.throws(() => choose(steps, ["lnt"]), /There is no step "lnt"; the steps are scripts, format,/);
});

test("the table shows each time and their sum", () => {
  const lines = table([
    { name: "format", outcome: "ok", took: 1500 },
    { name: "lint", outcome: "failed", took: 500 },
  ]).split("\n");
  assert.match(lines[1], /format\s.*1\.5 s/);
  assert.match(lines[2], /lint\s.*failed/);
  assert.match(lines[3], /total\s.*2\.0 s/);
});
