import assert from "node:assert/strict";
import path from "node:path";
import { test } from "node:test";

import { cacheDir, childEnv, hasDisplay, root, targetDir } from "./env.mjs";
import { duration, wantsColour } from "../run/terminal.mjs";

test("the build folder is in the cache folder, except on macOS, which empties it", () => {
  assert.equal(targetDir("linux", { HOME: "/home/a" }), "/home/a/.cache/evermoor/target");
  assert.equal(targetDir("linux", { HOME: "/home/a", XDG_CACHE_HOME: "/cache" }), "/cache/evermoor/target");
  assert.equal(targetDir("darwin", { HOME: "/Users/a" }), "/Users/a/Library/Developer/evermoor/target");
  assert.equal(targetDir("win32", { LOCALAPPDATA: "C:\\Users\\a\\Local" }), "C:\\Users\\a\\Local\\evermoor\\target");
  assert.equal(cacheDir("win32", { USERPROFILE: "C:\\Users\\a" }), "C:\\Users\\a\\AppData\\Local\\evermoor");
});

test("a build folder that is already set is kept", () => {
  assert.equal(targetDir("linux", { HOME: "/home/a", CARGO_TARGET_DIR: "/build" }), "/build");
  assert.equal(targetDir("win32", { CARGO_TARGET_DIR: "D:\\build" }), "D:\\build");
  assert.equal(targetDir(process.platform, { CARGO_TARGET_DIR: "target" }), path.join(root, "target"));
});

test("child programs inherit the environment and the build folder", () => {
  const env = childEnv("linux", { HOME: "/nowhere", PATH: "/bin", EVERMOOR_HOME: "/tmp/home" });
  assert.equal(env.EVERMOOR_HOME, "/tmp/home");
  assert.equal(env.PATH, "/bin");
  assert.equal(env.CARGO_TARGET_DIR, "/nowhere/.cache/evermoor/target");
});

test("the PATH variable keeps its spelling", () => {
  const env = childEnv("linux", { HOME: "/nowhere", Path: "/bin" });
  assert.equal(env.Path, "/bin");
  assert.equal("PATH" in env, false);
});

test("only Linux can lack a display", () => {
  assert.equal(hasDisplay("linux", {}), false);
  assert.equal(hasDisplay("linux", { DISPLAY: ":0" }), true);
  assert.equal(hasDisplay("linux", { WAYLAND_DISPLAY: "wayland-0" }), true);
  assert.equal(hasDisplay("darwin", {}), true);
  assert.equal(hasDisplay("win32", {}), true);
});

test("colour is used on a terminal, unless it is disabled or forced", () => {
  assert.equal(wantsColour({}, true), true);
  assert.equal(wantsColour({}, false), false);
  assert.equal(wantsColour({ NO_COLOR: "1" }, true), false);
  assert.equal(wantsColour({ FORCE_COLOR: "1" }, false), true);
  assert.equal(wantsColour({ NO_COLOR: "1", FORCE_COLOR: "1" }, true), false);
});

test("durations are formatted", () => {
  assert.equal(duration(850), "850 ms");
  assert.equal(duration(12_340), "12.3 s");
  assert.equal(duration(59_960), "1 min 00 s");
  assert.equal(duration(245_000), "4 min 05 s");
});
