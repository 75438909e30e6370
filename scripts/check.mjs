// npm run check: the quick part of npm test. `npm run check -- lint` runs one step.

import { quickSteps } from "./checks.mjs";
import { main } from "./main.mjs";
import { forTheTray, toCompile } from "./needs.mjs";
import { setUp } from "./setup.mjs";
import { choose, runSteps } from "./steps.mjs";

await main(async (names) => {
  const steps = choose(quickSteps(), names);
  await setUp({ needs: [...toCompile, ...forTheTray], tools: ["cargo-nextest"] });
  return runSteps(steps, { summary: true });
});
