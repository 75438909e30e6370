// npm run check: the quick part of npm test. `npm run check -- lint` runs one step.

import { quickSteps } from "./lib/checks/test_steps.mjs";
import { main } from "./lib/run/main.mjs";
import { forTheTray, toCompile } from "./lib/machine/requirements.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { choose, runSteps } from "./lib/run/steps.mjs";

await main(async (names) => {
  const steps = choose(quickSteps(), names);
  await setUp({ needs: [...toCompile, ...forTheTray], tools: ["cargo-nextest"] });
  return runSteps(steps, { summary: true });
});
