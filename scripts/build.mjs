// npm run build: builds the packages that users install.

import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";

import { cargo, npx } from "./lib/run/command.mjs";
import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { built, env, root } from "./lib/machine/env.mjs";
import { main } from "./lib/run/main.mjs";
import { forTheTray, toCompile } from "./lib/machine/requirements.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { runSteps } from "./lib/run/steps.mjs";

// Only releases build an AppImage, because its bundler downloads tools. It is the one Linux package that updates itself.
const bundles = { linux: env.CI ? "deb,rpm,appimage" : "deb,rpm", darwin: "app,dmg", win32: "nsis" };

/** Overrides of tauri.conf.json: the path of the program on Windows, and signed updates if there is a signing key. */
function overlays() {
  const windows = process.platform === "win32" ? ["--config", "src-tauri/bundle.windows.json"] : [];
  const signed = env.TAURI_SIGNING_PRIVATE_KEY ? ["--config", "src-tauri/bundle.signed.json"] : [];
  return [...windows, ...signed];
}

/** Copies the command line program to a fixed path for the bundler, because the build folder can be anywhere. */
function placeProgram() {
  const program = built("release", "evermoor");
  mkdirSync(path.join(root, "dist"), { recursive: true });
  copyFileSync(program, path.join(root, "dist", path.basename(program)));
}

await main(async (args) => {
  await setUp({ needs: [...toCompile, ...forTheTray] });
  const bundle = ["build", "--bundles", bundles[process.platform], ...overlays(), ...args, "--", "--locked"];
  return runSteps([
    buildDashboard(),
    { name: "program", command: cargo("build", "--release", "--locked", "-p", "evermoor"), after: placeProgram },
    { name: "package", command: npx("tauri", bundle, "@tauri-apps/cli") },
  ]);
});
