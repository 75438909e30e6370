// The environment of the scripts: the repository, the cache folder, the build folder, the display.

import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

import { colour } from "../run/terminal.mjs";

export const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "../../..");

/** The cache folder, by the convention of each system. */
export function cacheDir(system, env) {
  const { join } = pathsOf(system);
  switch (system) {
    case "win32":
      return join(env.LOCALAPPDATA || join(env.USERPROFILE, "AppData", "Local"), "evermoor");
    case "darwin":
      return join(env.HOME, "Library", "Caches", "evermoor");
    default:
      return join(env.XDG_CACHE_HOME || join(env.HOME, ".cache"), "evermoor");
  }
}

/**
 * One build folder for all clones and worktrees of a user, so that a new one builds faster. On macOS it is not in the cache
 * folder: the system empties that one, and the login item, the service and editors start programs from here.
 */
export function targetDir(system, env) {
  const { isAbsolute, join } = pathsOf(system);
  const chosen = env.CARGO_TARGET_DIR;
  if (!chosen && system === "darwin") return join(env.HOME, "Library", "Developer", "evermoor", "target");
  if (!chosen) return join(cacheDir(system, env), "target");
  // Tauri runs cargo in another folder, so a relative path would be wrong.
  return isAbsolute(chosen) ? chosen : join(root, chosen);
}

/** Whether there is a display for the tray icon. */
export function hasDisplay(system, env) {
  return system !== "linux" || Boolean(env.DISPLAY || env.WAYLAND_DISPLAY);
}

/** The environment of every program the scripts start. */
export function childEnv(system, env) {
  const cargoHome = env.CARGO_HOME || path.join(env.HOME || env.USERPROFILE || "", ".cargo");
  // On Windows it may be Path. With two spellings of the same variable, one would be lost.
  const name = Object.keys(env).find((key) => key.toUpperCase() === "PATH") || "PATH";
  const folders = (env[name] || "").split(path.delimiter);
  const bin = path.join(cargoHome, "bin");
  // A shell that was opened before Rust was installed does not have it on its PATH.
  if (!folders.includes(bin) && existsSync(bin)) folders.push(bin);
  return { ...env, [name]: folders.join(path.delimiter), CARGO_TARGET_DIR: targetDir(system, env) };
}

export const env = childEnv(process.platform, process.env);
// Some tools use colour even if their output is a file.
if (!colour) env.NO_COLOR = "1";

/** The path of a program that cargo built. */
export function built(profile, name) {
  return path.join(env.CARGO_TARGET_DIR, profile, process.platform === "win32" ? `${name}.exe` : name);
}

function pathsOf(system) {
  return system === "win32" ? path.win32 : path.posix;
}
