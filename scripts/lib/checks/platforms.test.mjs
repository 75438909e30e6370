import assert from "node:assert/strict";
import { test } from "node:test";

import { platformSteps } from "./platforms.mjs";

const windows = "x86_64-pc-windows-gnu";
const wine = ["wine-build", "wine", "installer"];

/** The steps that run with these marks in the cache. */
function run(facts, ...marks) {
  const steps = platformSteps({ system: "linux", warm: (what) => marks.includes(what), ...facts });
  return steps.filter(({ skip }) => !skip).map(({ name }) => name);
}

test("the tests for Windows run where they have passed once, and when they are asked for", () => {
  assert.deepEqual(run({}), ["macos", "windows"]);
  assert.deepEqual(run({}, "wine"), ["macos", "windows", ...wine]);
  assert.deepEqual(run({ strict: true }), ["macos", "windows", ...wine]);
});

test("a lint for Windows does not start the tests for it, on CI either", () => {
  assert.deepEqual(run({ ci: "true" }), ["macos", "windows"]);
  assert.deepEqual(run({ ci: "true" }, windows), ["macos", "windows"]);
  assert.deepEqual(run({}, windows), ["macos", "windows"]);
});

test("nothing runs on other systems, and a machine that cannot check is no failure unless it was asked to", () => {
  assert.deepEqual(run({ system: "darwin", strict: true }), []);
  const unavailable = (facts) => platformSteps({ system: "linux", warm: () => true, ...facts }).map((step) => step.unavailable);
  assert.deepEqual(new Set(unavailable({})), new Set([3]));
  assert.deepEqual(new Set(unavailable({ strict: true })), new Set([undefined]));
});
