// npm run build: the packages that people install.

import { copyFileSync, mkdirSync } from "node:fs";
import path from "node:path";

import { cargo, npx } from "./command.mjs";
import { buildDashboard } from "./dashboard.mjs";
import { built, root } from "./env.mjs";
import { main } from "./main.mjs";
import { forTheTray, toCompile } from "./needs.mjs";
import { setUp } from "./setup.mjs";
import { runSteps } from "./steps.mjs";

const bundles = { linux: "deb,rpm", darwin: "app,dmg", win32: "nsis" };

/** The bundler takes the command line program from a fixed place, because the build folder is a person's own choice. */
function placeProgram() {
  const program = built("release", "evermoor");
  mkdirSync(path.join(root, "dist"), { recursive: true });
  copyFileSync(program, path.join(root, "dist", path.basename(program)));
}

await main(async (args) => {
  await setUp({ needs: [...toCompile, ...forTheTray] });
  const overlay = process.platform === "win32" ? ["--config", "src-tauri/bundle.windows.json"] : [];
  const bundle = ["build", "--bundles", bundles[process.platform], ...overlay, ...args, "--", "--locked"];
  return runSteps([
    buildDashboard(),
    { name: "program", command: cargo("build", "--release", "--locked", "-p", "evermoor"), after: placeProgram },
    { name: "package", command: npx("tauri", bundle, "@tauri-apps/cli") },
  ]);
});
