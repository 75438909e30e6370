// The application that `npm start` runs on macOS: the compiled programs in a bundle with an ad-hoc signature. Outside of a
// bundle there are no notifications, and the system shows a generic icon and the name of a file in its questions.

import { existsSync, statSync } from "node:fs";
import path from "node:path";

import { npx } from "../run/command.mjs";
import { built, env, root } from "../machine/env.mjs";
import { overlays } from "./overlays.mjs";
import { installed, place } from "./program.mjs";

const app = () => path.join(env.CARGO_TARGET_DIR, "release", "bundle", "macos", "Evermoor.app");

/** The program of the tray in the application. */
export function trayProgram() {
  return path.join(app(), "Contents", "MacOS", "evermoor-tray");
}

/** Whether the application is newer than everything it is made of. `changed` gives the time of a file, or undefined. */
export function isCurrent(made, parts, changed) {
  const time = changed(made);
  return time !== undefined && parts.every((part) => (changed(part) ?? Infinity) < time);
}

/** The step that makes it from the programs that cargo built, without compiling them again. */
export function bundleApp(host) {
  const settings = ["tauri.conf.json", "bundle.macos.json", "Info.plist", "Entitlements.plist"];
  const programs = [...installed("darwin"), "evermoor-tray"].map((name) => built("release", name));
  const parts = [...programs, ...settings.map((name) => path.join(root, "src-tauri", name))];
  const changed = (file) => (existsSync(file) ? statSync(file).mtimeMs : undefined);
  return {
    name: "application",
    command: npx("tauri", ["bundle", "--bundles", "app", ...overlays("darwin")], "@tauri-apps/cli"),
    before: () => {
      // The signature is the last thing that the bundler writes.
      if (isCurrent(path.join(app(), "Contents", "_CodeSignature", "CodeResources"), parts, changed)) return "its programs have not changed";
      place("darwin", undefined, host);
      return undefined;
    },
  };
}
