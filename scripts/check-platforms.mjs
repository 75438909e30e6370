// npm run check:platforms: lints the whole workspace, including the tray, for macOS and Windows, and runs the tests for
// Windows with wine.

import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { Unready } from "./lib/machine/machine.mjs";
import { main } from "./lib/run/main.mjs";
import { platformSteps } from "./lib/checks/platforms.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { choose, runSteps } from "./lib/run/steps.mjs";

await main(async (names) => {
  if (process.platform !== "linux") throw new Unready("This check runs only on Linux. Run it on Debian 12.");
  const steps = choose([buildDashboard(), ...platformSteps({ system: process.platform, strict: true })], names);
  await setUp({ tools: ["cargo-nextest"] });
  return runSteps(steps, { summary: true });
});
