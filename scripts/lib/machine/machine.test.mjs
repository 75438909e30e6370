import assert from "node:assert/strict";
import { test } from "node:test";

import { nodeComplaint, pythonComplaint, rustComplaint, thisCommand } from "./machine.mjs";
import { atLeast, findVersion } from "../checks/version.mjs";

test("versions are compared part by part, as numbers", () => {
  assert.equal(atLeast("20.19.0", "20.19"), true);
  assert.equal(atLeast("20.9.0", "20.19"), false);
  assert.equal(atLeast("22.0.0", "20.19"), true);
  assert.equal(atLeast("18.20.8", "20.19"), false);
  assert.equal(atLeast("1.95", "1.95.0"), true);
});

test("a version is found in the output of a tool", () => {
  assert.equal(findVersion("cargo 1.95.0 (f2d3ce0bd 2026-03-21)"), "1.95.0");
  assert.equal(findVersion('[toolchain]\nchannel = "1.95.0"'), "1.95.0");
  assert.equal(findVersion("no such command"), undefined);
});

test("a Node that is too old gets one sentence", () => {
  assert.equal(nodeComplaint("20.19.0", "npm start"), undefined);
  assert.equal(
    nodeComplaint("18.20.8", "npm start"),
    "Evermoor needs Node 20.19 or newer and this is 18.20.8: install it from nodejs.org, then run npm start again.",
  );
});

test("a machine without Rust, or with an old one, gets one sentence", () => {
  assert.equal(rustComplaint("cargo 1.95.0 (f2d3ce0bd 2026-03-21)", true, "1.95.0", "npm start"), undefined);
  assert.equal(
    rustComplaint(undefined, false, "1.95.0", "npm start"),
    "Evermoor needs Rust: install it from rustup.rs, then run npm start again.",
  );
  assert.equal(
    rustComplaint(undefined, true, "1.95.0", "npm test"),
    "Evermoor needs Rust 1.95.0: run rustup toolchain install 1.95.0, then run npm test again.",
  );
  assert.equal(
    rustComplaint("cargo 1.63.0", false, "1.95.0", "npm start"),
    "Evermoor needs Rust 1.95.0 or newer and this is 1.63.0: install it from rustup.rs, then run npm start again.",
  );
});

test("a machine without Python, or with an old one, gets one sentence", () => {
  assert.equal(pythonComplaint("Python 3.11.7", "npm test"), undefined);
  assert.equal(
    pythonComplaint(undefined, "npm test"),
    "Evermoor's tests need Python 3.10 or newer: install it from python.org, then run npm test again.",
  );
  assert.equal(
    pythonComplaint("Python 3.9.2", "npm test"),
    "Evermoor's tests need Python 3.10 or newer and this is 3.9.2: install it from python.org, then run npm test again.",
  );
});

test("the message names the command that was typed", () => {
  assert.equal(thisCommand("start"), "npm start");
  assert.equal(thisCommand("check:platforms"), "npm run check:platforms");
});
