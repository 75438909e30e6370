// npm run bench: measures what the documentation promises. Arguments after -- go to the benchmark program.

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
    // Measures the release program against the fake server of the tests.
    { name: "program", command: cargo("build", "--release", "--locked", "-p", "evermoor", "-p", "evermoor-tests", "--bins") },
  ]);
  return status || run(cargo("run", "--release", "--locked", "-p", "evermoor-tests", "--bin", "bench", "--", ...args));
});
