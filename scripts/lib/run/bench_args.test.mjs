import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import path from "node:path";
import { test } from "node:test";

import { root } from "../machine/env.mjs";
import { readBenchArgs, usage } from "./bench_args.mjs";

const bench = (...args) => spawnSync(process.execPath, [path.join(root, "scripts/bench.mjs"), ...args], { encoding: "utf8", timeout: 20_000 });

test("the arguments of the benchmark are read", () => {
  assert.deepEqual(readBenchArgs([]), { peers: false, others: [] });
  assert.deepEqual(readBenchArgs(["--quick", "--peers"]), { peers: true, others: ["--quick"] });
  assert.deepEqual(readBenchArgs(["versions"]), { peers: false, others: ["versions"] });
  assert.deepEqual(readBenchArgs(["--quick", "--help"]), { help: true });
  assert.match(readBenchArgs(["--quik"]).mistake, /--quik/);
  assert.match(readBenchArgs(["load", "--quick"]).mistake, /"load" is used alone/);
  assert.match(readBenchArgs(["versions", "load"]).mistake, /"versions" is used alone/);
});

test("asking for help measures nothing", () => {
  const { status, stdout } = bench("--help");
  assert.deepEqual([status, stdout.trim()], [0, usage]);
});

test("a mistake in the arguments is refused before anything is built", () => {
  const { status, stdout, stderr } = bench("--repetitions", "5");
  assert.deepEqual([status, stdout], [2, ""]);
  assert.match(stderr, /There is no argument "--repetitions"\.[^]*Usage: npm run bench/);
});
