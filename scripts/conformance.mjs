// npm run conformance: runs the MCP conformance suite, directly and through Evermoor.

import { cargo, command, run } from "./command.mjs";
import { buildDashboard } from "./dashboard.mjs";
import { built } from "./env.mjs";
import { main } from "./main.mjs";
import { toCompile } from "./needs.mjs";
import { setUp } from "./setup.mjs";
import { runSteps } from "./steps.mjs";

await main(async () => {
  await setUp({ needs: toCompile, folders: [".", "tests/peers"] });
  const status = await runSteps([
    buildDashboard(),
    { name: "program", command: cargo("build", "--locked", "-p", "evermoor", "-p", "evermoor-tests", "--bins") },
  ]);
  return status || run(command(built("debug", "conformance"), []));
});
