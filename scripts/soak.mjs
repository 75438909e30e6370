// npm run soak: ten editors call six upstreams of the release build while everything keeps failing. `-- --minutes 5` says for
// how long; an hour by default. See tests/src/bin/soak/main.rs.

import { cargo, run } from "./lib/run/command.mjs";
import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { main } from "./lib/run/main.mjs";
import { toCompile } from "./lib/machine/requirements.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { runSteps } from "./lib/run/steps.mjs";

await main(async (args) => {
  await setUp({ needs: toCompile });
  const status = await runSteps([
    buildDashboard(),
    { name: "program", command: cargo("build", "--release", "--locked", "-p", "evermoor", "-p", "evermoor-tests", "--bins") },
  ]);
  return status || run(cargo("run", "--release", "--locked", "-p", "evermoor-tests", "--bin", "soak", "--", ...args));
});
