// npm run build: builds the packages that users install. Arguments after -- go to the bundler; on macOS,
// `--target universal-apple-darwin` builds for both processors.

import { ask, npx } from "./lib/run/command.mjs";
import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { env } from "./lib/machine/env.mjs";
import { main } from "./lib/run/main.mjs";
import { forTheTray, toCompile } from "./lib/machine/requirements.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { overlays } from "./lib/package/overlays.mjs";
import { hostIn, programSteps, targetIn } from "./lib/package/program.mjs";
import { runSteps } from "./lib/run/steps.mjs";

// Only releases build an AppImage, because its bundler downloads tools. It is the one Linux package that updates itself.
const bundles = { linux: env.CI ? "deb,rpm,appimage" : "deb,rpm", darwin: "app,dmg", win32: "nsis" };

await main(async (args) => {
  await setUp({ needs: [...toCompile, ...forTheTray] });
  const system = process.platform;
  const settings = overlays(system, { signed: Boolean(env.TAURI_SIGNING_PRIVATE_KEY) });
  const bundle = ["build", "--bundles", bundles[system], ...settings, ...args, "--", "--locked"];
  return runSteps([
    buildDashboard(),
    ...programSteps(system, targetIn(args), hostIn(ask("rustc", "-vV"))),
    { name: "package", command: npx("tauri", bundle, "@tauri-apps/cli") },
  ]);
});
