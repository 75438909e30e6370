import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";

import { root } from "./env.mjs";
import { environment, isCurrent, stamp } from "./python.mjs";

test("Python packages are installed when the requirements change or their Python is missing", () => {
  const folder = mkdtempSync(path.join(tmpdir(), "evermoor-python"));
  try {
    const place = environment(folder, process.platform);
    writeFileSync(place.wanted, "mcp==2.3.0\n");
    assert.equal(isCurrent(place), false);
    mkdirSync(path.dirname(place.python), { recursive: true });
    writeFileSync(place.python, "");
    assert.equal(isCurrent(place), false, "an interrupted installation has no stamp");
    stamp(place);
    assert.equal(isCurrent(place), true);
    writeFileSync(place.wanted, "mcp==2.3.1\n");
    assert.equal(isCurrent(place), false);
    stamp(place);
    rmSync(place.python);
    assert.equal(isCurrent(place), false);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test("the path of the environment's Python depends on the system", () => {
  assert.match(environment("peers", "linux").python, /bin.python$/);
  assert.match(environment("peers", "win32").python, /Scripts.python\.exe$/);
});

test("every Python package is pinned, and no registry is named", () => {
  const lines = readFileSync(path.join(root, "tests/peers/requirements.txt"), "utf8").split(/\r?\n/);
  for (const line of lines) assert.match(line, /^(#.*|[\w-]+==[\w.]+)?$/);
});
