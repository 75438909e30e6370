// npm run build: the packages that people install.

import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";

import { cargo, npx } from "./command.mjs";
import { buildDashboard } from "./dashboard.mjs";
import { built, env, root } from "./env.mjs";
import { main } from "./main.mjs";
import { forTheTray, toCompile } from "./needs.mjs";
import { setUp } from "./setup.mjs";
import { runSteps } from "./steps.mjs";

// An AppImage, the one package on Linux that updates itself, needs tools that its bundler fetches; releases have it.
const bundles = { linux: env.CI ? "deb,rpm,appimage" : "deb,rpm", darwin: "app,dmg", win32: "nsis" };

/** What differs from tauri.conf.json: the program's place on Windows, and signed updates where there is a key to sign with. */
function overlays() {
  const windows = process.platform === "win32" ? ["--config", "src-tauri/bundle.windows.json"] : [];
  const signed = env.TAURI_SIGNING_PRIVATE_KEY ? ["--config", "src-tauri/bundle.signed.json"] : [];
  return [...windows, ...signed];
}

/** The bundler takes the command line program from a fixed place, because the build folder is a person's own choice. */
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
