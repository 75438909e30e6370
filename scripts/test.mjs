// npm test: installs what is missing and checks everything. `npm test -- lint tests` runs those steps alone.

import { fullSteps } from "./lib/checks/test_steps.mjs";
import { env } from "./lib/machine/env.mjs";
import { main } from "./lib/run/main.mjs";
import { forTheTests, forTheTray, toCompile } from "./lib/machine/requirements.mjs";
import { isWarm } from "./lib/checks/platforms.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { choose, runSteps } from "./lib/run/steps.mjs";

await main(async (names) => {
  const steps = choose(fullSteps({ system: process.platform, ci: env.CI, warm: isWarm, strict: false }), names);
  await setUp({
    needs: [...toCompile, ...forTheTray, ...forTheTests],
    folders: [".", "tests/peers"],
    pythons: ["tests/peers"],
    tools: ["cargo-nextest", "cargo-deny"],
  });
  return runSteps(steps, { summary: true });
});
