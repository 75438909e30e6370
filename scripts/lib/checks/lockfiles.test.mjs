import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { root } from "../machine/env.mjs";
import { isStale } from "../machine/setup.mjs";

const lock = (packages) => ({ packages: { "": {}, ...packages } });

test("packages are installed again when the lock file changes", () => {
  const vite = { "node_modules/vite": { version: "8.3.5" } };
  assert.equal(isStale(lock(vite), lock(vite)), false);
  assert.equal(isStale(lock(vite), lock({})), true);
  assert.equal(isStale(lock(vite), lock({ "node_modules/vite": { version: "8.3.4" } })), true);
});

test("a package for another system may be missing", () => {
  assert.equal(isStale(lock({ "node_modules/fsevents": { version: "2.3.3", optional: true } }), lock({})), false);
});

for (const folder of [".", "tests/peers"]) {
  const { packages } = JSON.parse(readFileSync(path.join(root, folder, "package-lock.json"), "utf8"));

  // npm omits packages that its registry does not have at that moment. Then `npm ci` fails on other systems.
  test(`the lock file of ${folder} has the native parts of all systems`, () => {
    for (const [place, { optionalDependencies = {} }] of Object.entries(packages)) {
      for (const name of Object.keys(optionalDependencies)) {
        const found = packages[`${place}/node_modules/${name}`] || packages[`node_modules/${name}`];
        assert.ok(found, `${place} needs ${name}: lock a version of it that exists for all systems`);
      }
    }
  });

  test(`the lock file of ${folder} names no registry`, () => {
    for (const [place, { resolved }] of Object.entries(packages)) assert.equal(resolved, undefined, place);
  });
}
