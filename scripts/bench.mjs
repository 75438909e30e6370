// npm run bench: measures what Evermoor costs and writes docs/performance.md. `npm run bench -- --quick` compares in a
// minute and writes nothing; `--peers` installs other proxies and measures them too. See tests/src/bin/bench/main.rs.

import path from "node:path";

import { readBenchArgs, usage } from "./lib/run/bench_args.mjs";
import { cargo, run } from "./lib/run/command.mjs";
import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { installPeers } from "./lib/machine/peers.mjs";
import { main } from "./lib/run/main.mjs";
import { root } from "./lib/machine/env.mjs";
import { toCompile } from "./lib/machine/requirements.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { runSteps } from "./lib/run/steps.mjs";
import { giveUp, say } from "./lib/run/terminal.mjs";

await main(async (args) => {
  const { help, mistake, peers, others } = readBenchArgs(args);
  if (help) {
    say(usage);
    return 0;
  }
  if (mistake) {
    giveUp(`${mistake}\n\n${usage}`);
    return 2;
  }
  await setUp({ needs: toCompile });
  if (peers) {
    const folder = path.join(root, "tests/.proxies");
    await installPeers(folder);
    others.push("--peers", folder);
  }
  const status = await runSteps([
    buildDashboard(),
    { name: "program", command: cargo("build", "--release", "--locked", "-p", "evermoor", "-p", "evermoor-tests", "--bins") },
  ]);
  return status || run(cargo("run", "--release", "--locked", "-p", "evermoor-tests", "--bin", "bench", "--", ...others));
});
