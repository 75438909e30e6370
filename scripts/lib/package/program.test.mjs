import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";

import { root } from "../machine/env.mjs";
import { compiledFor, hostIn, installed, placedName, programSteps, targetIn } from "./program.mjs";

const shown = (steps) => steps.map(({ command }) => command.shown);

test("the target is read from the arguments of the bundler", () => {
  assert.equal(targetIn(["--verbose"]), undefined);
  assert.equal(targetIn(["--target", "x86_64-apple-darwin"]), "x86_64-apple-darwin");
  assert.equal(targetIn(["--target=universal-apple-darwin"]), "universal-apple-darwin");
});

test("the bundler signs a program on macOS only if its name ends with the target", () => {
  assert.equal(placedName("darwin", "aarch64-apple-darwin"), "evermoor-aarch64-apple-darwin");
  assert.equal(placedName("linux", "x86_64-unknown-linux-gnu"), "evermoor");
  assert.equal(placedName("win32", undefined), "evermoor.exe");
});

test("the target of this machine is what the compiler says", () => {
  assert.equal(hostIn("rustc 1.95.0\nbinary: rustc\nhost: aarch64-apple-darwin\nrelease: 1.95.0"), "aarch64-apple-darwin");
  assert.equal(hostIn(undefined), undefined);
});

test("every package contains every program that is installed beside the tray", () => {
  const settings = (name) => JSON.parse(readFileSync(path.join(root, "src-tauri", name), "utf8")).bundle;
  for (const { files } of Object.values(settings("tauri.conf.json").linux)) {
    const wanted = installed("linux").map((name) => [`/usr/bin/${name}`, `../dist/${placedName("linux", undefined, name)}`]);
    assert.deepEqual(files, Object.fromEntries(wanted));
  }
  assert.deepEqual(settings("bundle.macos.json").externalBin, installed("darwin").map((name) => `../dist/${name}`));
  assert.deepEqual(settings("bundle.windows.json").resources, { "../dist/evermoor.exe": "evermoor.exe" });
  assert.deepEqual(installed("win32"), ["evermoor"]);
});

test("a program for this machine is compiled once", () => {
  assert.deepEqual(compiledFor(undefined), [undefined]);
  assert.deepEqual(shown(programSteps("darwin", undefined, "aarch64-apple-darwin")), ["cargo build --release --locked -p evermoor"]);
});

test("a universal program is compiled for both processors and joined", () => {
  assert.deepEqual(shown(programSteps("darwin", "universal-apple-darwin", "aarch64-apple-darwin")), [
    "cargo build --release --locked -p evermoor --target aarch64-apple-darwin",
    "cargo build --release --locked -p evermoor --target x86_64-apple-darwin",
    "lipo -create -output dist/evermoor-universal-apple-darwin dist/evermoor-aarch64-apple-darwin dist/evermoor-x86_64-apple-darwin",
    "lipo -create -output dist/evermoor-shim-universal-apple-darwin dist/evermoor-shim-aarch64-apple-darwin dist/evermoor-shim-x86_64-apple-darwin",
  ]);
});
