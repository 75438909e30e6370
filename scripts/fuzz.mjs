// npm run fuzz: fuzzes what reads the bytes of others. Arguments after --: a number of minutes for each target (60 unless
// given), and the targets (all unless given). Uses libFuzzer with the Rust that builds everything else. An input that breaks
// a promise is kept in fuzz/found: repair what it shows, then add it to fuzz/seeds, which npm test replays.

import { mkdirSync, readdirSync } from "node:fs";
import path from "node:path";

import { root } from "./lib/machine/env.mjs";
import { hostIn } from "./lib/package/program.mjs";
import { ask, command, run } from "./lib/run/command.mjs";
import { main } from "./lib/run/main.mjs";

const folder = path.join(root, "fuzz");
const built = path.join(folder, "target");
// What cargo-fuzz sets, without the sanitizers, which need nightly Rust and find mistakes of unsafe code only: counters for
// libFuzzer, and checks that a release build leaves out.
const flags = [
  "--cfg fuzzing",
  "-Cpasses=sancov-module",
  "-Cllvm-args=-sanitizer-coverage-level=4",
  "-Cllvm-args=-sanitizer-coverage-inline-8bit-counters",
  "-Cllvm-args=-sanitizer-coverage-pc-table",
  "-Ccodegen-units=1",
  "-Cdebug-assertions",
  "-Coverflow-checks",
];

await main(async (args) => {
  const minutes = Number(args.find((arg) => /^\d+(\.\d+)?$/.test(arg)) ?? 60);
  const named = args.filter((arg) => /^[a-z_]+$/.test(arg));
  const targets = named.length > 0 ? named : readdirSync(path.join(folder, "seeds")).sort();
  // With a target, cargo does not use the flags for build scripts.
  const host = hostIn(ask("rustc", "-vV"));
  const build = ["build", "--release", "--locked", "--target", host, "--manifest-path", path.join(folder, "Cargo.toml")];
  const status = await run(command("cargo", build, { env: { RUSTFLAGS: flags.join(" "), CARGO_TARGET_DIR: built } }));
  if (status) return status;
  for (const target of targets) {
    const [corpus, found] = ["corpus", "found"].map((name) => path.join(folder, name, target));
    for (const made of [corpus, found]) mkdirSync(made, { recursive: true });
    const program = path.join(built, host, "release", target);
    const limits = [`-max_total_time=${Math.round(minutes * 60)}`, "-timeout=10", "-rss_limit_mb=1024", "-print_final_stats=1"];
    const broke = await run(command(program, [corpus, path.join(folder, "seeds", target), `-artifact_prefix=${found}/`, ...limits]));
    if (broke) return broke;
  }
  return 0;
});
