// npm test: installs what is missing and checks everything. `npm test -- lint tests` runs those steps alone.

import { fullSteps } from "./checks.mjs";
import { env } from "./env.mjs";
import { main } from "./main.mjs";
import { forTheTests, forTheTray, toCompile } from "./needs.mjs";
import { isWarm } from "./platforms.mjs";
import { setUp } from "./setup.mjs";
import { choose, runSteps } from "./steps.mjs";

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
