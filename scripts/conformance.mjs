// npm run conformance: runs the MCP conformance suite, directly and through Evermoor.

import { cargo, command, run } from "./lib/run/command.mjs";
import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { built } from "./lib/machine/env.mjs";
import { main } from "./lib/run/main.mjs";
import { toCompile } from "./lib/machine/requirements.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { runSteps } from "./lib/run/steps.mjs";

await main(async () => {
  await setUp({ needs: toCompile, folders: [".", "tests/peers"] });
  const status = await runSteps([
    buildDashboard(),
    { name: "program", command: cargo("build", "--locked", "-p", "evermoor", "-p", "evermoor-tests", "--bins") },
  ]);
  return status || run(command(built("debug", "conformance"), []));
});
