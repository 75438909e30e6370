import assert from "node:assert/strict";
import { test } from "node:test";

import { bundleApp, isCurrent } from "./app.mjs";
import { overlays } from "./overlays.mjs";

test("the application is made again only if one of its parts is newer", () => {
  const changed = (times) => (name) => times[name];
  assert.equal(isCurrent("app", ["a", "b"], changed({ app: 3, a: 1, b: 2 })), true);
  assert.equal(isCurrent("app", ["a", "b"], changed({ app: 2, a: 1, b: 3 })), false);
  assert.equal(isCurrent("app", ["a"], changed({ a: 1 })), false, "there is none yet");
  assert.equal(isCurrent("app", ["a"], changed({ app: 2 })), false, "a part is missing");
});

test("the application is bundled from compiled programs and compiles nothing", () => {
  assert.equal(bundleApp("aarch64-apple-darwin").command.shown, "npx tauri bundle --bundles app --config src-tauri/bundle.macos.json");
});

test("each system has its own changes to the configuration", () => {
  assert.deepEqual(overlays("linux"), []);
  assert.deepEqual(overlays("win32"), ["--config", "src-tauri/bundle.windows.json"]);
  assert.deepEqual(overlays("darwin", { signed: true }), ["--config", "src-tauri/bundle.macos.json", "--config", "src-tauri/bundle.signed.json"]);
});
