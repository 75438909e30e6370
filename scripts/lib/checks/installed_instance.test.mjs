import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, test } from "node:test";

import { besideInstalledInstance, changes, environment } from "./installed_instance.mjs";
import { fullSteps, quickSteps } from "./test_steps.mjs";
import { killAll, processesOf } from "../run/processes.mjs";

const skip = process.platform !== "linux" && "only Linux lists the processes that are left";

// A fake gateway: it writes the runtime file and prints that it is ready.
const fake = `#!${process.execPath}
const { createServer } = require("node:http");
const { mkdirSync, writeFileSync } = require("node:fs");
const server = createServer((request, response) => response.end("ok")).listen(0, "127.0.0.1", () => {
  const folder = process.env.XDG_RUNTIME_DIR + "/evermoor";
  mkdirSync(folder);
  const runtime = { origin: "http://127.0.0.1:" + server.address().port, pid: process.pid };
  writeFileSync(folder + "/gateway.json", JSON.stringify(runtime));
  console.log("Try it");
});
`;

let folder, program, complaints;

before(() => {
  folder = mkdtempSync(path.join(tmpdir(), "evermoor-guard-"));
  program = path.join(folder, "evermoor.cjs");
  writeFileSync(program, fake);
  chmodSync(program, 0o755);
});

after(() => rmSync(folder, { recursive: true }));

/** Runs `work` beside an installed Evermoor and returns the exit status. `complaints` has the printed errors. */
async function runBeside(work) {
  complaints = [];
  const said = console.error;
  console.error = (text) => complaints.push(text);
  try {
    return await besideInstalledInstance(work, { program, patience: 500 });
  } finally {
    console.error = said;
  }
}

/** Starts a process with these variables and leaves it running. */
async function leaveRunning(variables) {
  const child = spawn("sleep", ["600"], { env: { PATH: process.env.PATH, ...variables }, detached: true, stdio: "ignore" });
  await new Promise((resolve) => child.once("spawn", resolve));
  return child;
}

test("tests that touch nothing and leave nothing behind pass, and the installed Evermoor is removed", { skip }, async () => {
  let seen;
  const status = await runBeside(async (env) => {
    seen = env;
    assert.match(readFileSync(path.join(env.HOME, ".config/autostart/Evermoor.desktop"), "utf8"), /evermoor-tray/);
    return 0;
  });
  assert.deepEqual([status, complaints], [0, []]);
  assert.ok(!existsSync(seen.HOME) && !existsSync(seen.TMPDIR));
  assert.deepEqual(processesOf(seen.HOME), []);
});

test("tests that fail keep their status", { skip }, async () => {
  assert.equal(await runBeside(async () => 101), 101);
  assert.deepEqual(complaints, []);
});

test("a process that tests leave running is reported and killed", { skip }, async () => {
  let child;
  const status = await runBeside(async (env) => {
    child = await leaveRunning({ TMPDIR: env.TMPDIR });
    return 0;
  });
  assert.equal(status, 1);
  assert.equal(complaints.length, 1);
  assert.match(complaints[0], new RegExp(`The tests left process ${child.pid} running: sleep 600`));
  assert.equal(child.signalCode ?? (await new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)))), "SIGKILL");
});

test("a temporary file that tests leave behind is reported", { skip }, async () => {
  const status = await runBeside(async (env) => {
    writeFileSync(path.join(env.TMPDIR, "evermoor-scene1"), "");
    return 0;
  });
  assert.equal(status, 1);
  assert.match(complaints.join(), /The tests left evermoor-scene1 in the temporary folder\./);
});

test("a change in the home of the installed Evermoor is reported", { skip }, async () => {
  const status = await runBeside(async (env) => {
    appendFileSync(path.join(env.HOME, ".config/autostart/Evermoor.desktop"), "Hidden=true\n");
    return 0;
  });
  assert.equal(status, 1);
  assert.match(complaints.join(), /\.config\/autostart\/Evermoor\.desktop is changed\./);
});

test("a connection to the session bus is reported", { skip }, async () => {
  const status = await runBeside(async (env) => {
    const socket = connect(env.DBUS_SESSION_BUS_ADDRESS.replace("unix:path=", ""));
    await new Promise((resolve) => socket.once("close", resolve));
    return 0;
  });
  assert.equal(status, 1);
  assert.match(complaints.join(), /connected to the user's session bus/);
});

test("the exit of the installed Evermoor is reported", { skip }, async () => {
  const status = await runBeside(async (env) => {
    const { pid } = JSON.parse(readFileSync(path.join(env.XDG_RUNTIME_DIR, "evermoor/gateway.json"), "utf8"));
    process.kill(pid, "SIGKILL");
    while (processesOf(env.HOME).length > 0) await new Promise(setImmediate);
    return 0;
  });
  assert.equal(status, 1);
  assert.match(complaints.join(), /The tests stopped the installed Evermoor\./);
});

test("if the program is missing, the message names the step that builds it", { skip }, async () => {
  program = path.join(folder, "nothing");
  assert.equal(await runBeside(() => assert.fail("nothing is run")), 1);
  assert.match(complaints.join(), /is missing: run npm test -- build first/);
});

test("only files that the installed Evermoor does not write itself count as changes", () => {
  const home = (entries) => new Map(Object.entries(entries));
  const mine = { ".local/state/evermoor/gateway.log": "1", ".local/share/evermoor/history.sqlite-wal": "1", "run/evermoor/gateway.json": "1" };
  const was = home({ ...mine, ".claude.json": "1", ".config/evermoor/config.toml": "1" });
  const is = home({ ".config/evermoor/config.toml": "2", ".local/share/evermoor/tokens.json": "1" });
  assert.deepEqual(changes(was, is), [
    ".claude.json is gone",
    ".config/evermoor/config.toml is changed",
    ".local/share/evermoor/tokens.json is new",
  ]);
});

test("the tests get the user's tools and nothing else from their environment", () => {
  const places = { person: "/t/person", runtime: "/t/person/run", temporary: "/t/tmp" };
  const env = environment({ HOME: "/home/a", RUSTUP_HOME: "/rustup" }, places);
  assert.deepEqual([env.HOME, env.CARGO_HOME, env.RUSTUP_HOME], ["/t/person", "/home/a/.cargo", "/rustup"]);
  for (const name of ["XDG_CONFIG_HOME", "DISPLAY", "EVERMOOR_HOME"]) assert.ok(name in env && env[name] === undefined, name);
});

test("every step that starts programs runs beside an installed Evermoor", () => {
  const facts = { system: "linux", ci: undefined, warm: () => false, strict: false };
  const guarded = (steps) => steps.filter(({ around }) => around === besideInstalledInstance).map(({ name }) => name);
  assert.deepEqual(guarded(fullSteps(facts)), ["browser", "tests", "package"]);
  assert.deepEqual(guarded(quickSteps()), []);
});

test("a process belongs to the folder that it names, and `killAll` kills it", { skip }, async () => {
  const place = mkdtempSync(path.join(tmpdir(), "evermoor-processes-"));
  try {
    const child = await leaveRunning({ EVERMOOR_HOME: place });
    assert.deepEqual(processesOf(place).map(({ pid }) => pid), [child.pid]);
    assert.deepEqual(processesOf(place, [child.pid]), []);
    await killAll(place);
    assert.deepEqual(processesOf(place), []);
  } finally {
    rmSync(place, { recursive: true });
  }
});
