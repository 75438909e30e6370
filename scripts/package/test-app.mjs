// Tests the application on macOS: bundles the test programs, verifies the signatures, starts the application, makes a call,
// kills a server and an application and looks for their outages and the restart, keeps a secret in a keychain and locks that, installs
// the service twice, sets launch at login, and removes everything.
//
// It changes the settings of this user, so it runs only on CI. `node scripts/package/test-app.mjs --programs FOLDER` tries the part
// that needs neither a bundle nor a service with programs that exist, on any system; `--keychain` also the secret, in the keychain of
// this session.

import { spawn, spawnSync } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { ask, npx, run } from "../lib/run/command.mjs";
import { built, env, root } from "../lib/machine/env.mjs";
import { useKeychain } from "../lib/package/keychain.mjs";
import { hostIn, installed, placedName } from "../lib/package/program.mjs";
import { overlays } from "../lib/package/overlays.mjs";
import { giveUp, say } from "../lib/run/terminal.mjs";

const timeout = 60_000;
const started = [];
/** The processes that Evermoor started. */
const restarted = [];

/** The output of a program, which must succeed. */
function must(program, args, more = {}, input = "") {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", input, timeout, env: { ...env, ...more } });
  if (status !== 0) throw new Error(`${path.basename(program)} ${args.join(" ")}: ${error?.message ?? (stderr || stdout)}`);
  return stdout.trim();
}

/** What `evermoor status` says of an upstream. Its exit status says whether all are connected. */
function statusOf(evermoor, own, upstream) {
  const { stdout } = spawnSync(evermoor, ["--json", "status"], { encoding: "utf8", timeout, env: { ...env, ...own } });
  return JSON.parse(stdout).upstreams.find(({ name }) => name === upstream);
}

/** Waits until `look` returns something. */
async function until(what, look) {
  const deadline = Date.now() + timeout;
  for (;;) {
    const found = look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`not seen in time: ${what}`);
    await sleep(100);
  }
}

/** Bundles the test programs with an ad-hoc signature. Returns the application. */
async function bundle(scratch) {
  // The bundler modifies the program, so it gets a copy.
  const debug = path.join(scratch, "target", "debug");
  mkdirSync(debug, { recursive: true });
  copyFileSync(built("debug", "evermoor-tray"), path.join(debug, "evermoor-tray"));
  mkdirSync(path.join(root, "dist"), { recursive: true });
  const host = hostIn(ask("rustc", "-vV"));
  for (const program of installed("darwin")) copyFileSync(built("debug", program), path.join(root, "dist", placedName("darwin", host, program)));
  const line = npx("tauri", ["bundle", "--debug", "--bundles", "app", ...overlays("darwin")], "@tauri-apps/cli");
  const status = await run({ ...line, env: { CARGO_TARGET_DIR: path.join(scratch, "target") } });
  if (status !== 0) throw new Error(`the bundler ended with status ${status}`);
  return path.join(debug, "bundle", "macos", "Evermoor.app");
}

function start(program, args, more = {}) {
  const child = spawn(program, args, { env: { ...env, ...more }, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (text) => (output += text));
  started.push(child);
  return { child, output: () => output };
}

/** The gateway that runs in this home: where it listens, and its process. */
async function gateway(home) {
  const file = path.join(home, "run", "gateway.json");
  const read = () => existsSync(file) && JSON.parse(readFileSync(file, "utf8"));
  return until("a gateway", read);
}

/** A call to the demo server, then a server that is killed, and its outage in the history. */
async function tryGateway(evermoor, home, scratch) {
  const own = { EVERMOOR_HOME: home };
  const said = must(evermoor, ["call", "demo__echo", "text=hello"], own);
  if (said !== "hello") throw new Error(`the demo server says ${said}`);

  const server = start(built("debug", "fake-upstream"), ["127.0.0.1:0", path.join(scratch, "ledger")]);
  const url = await until("the address of the server", () => /http:\/\/\S+/.exec(server.output())?.[0]);
  must(evermoor, ["add", "notes", "--url", url], own);
  await until("a connection to the server", () => statusOf(evermoor, own, "notes")?.link?.state === "connected");
  server.child.kill("SIGKILL");
  const incidents = () => JSON.parse(must(evermoor, ["--json", "incidents", "notes"], own)).incidents;
  const [incident] = await until("the outage", () => incidents().length > 0 && incidents());
  say(`A call was answered, and the outage was recorded: ${JSON.stringify(incident).slice(0, 160)}`);
}

/** The first of some ports that are probably free. */
async function freePorts() {
  const server = createServer();
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  await new Promise((closed) => server.close(closed));
  return Math.min(port, 65_000);
}

/** An application with a preset that crashes: its outage is in the history, and Evermoor starts it again. */
async function tryApplication(evermoor, home, scratch) {
  const own = { EVERMOOR_HOME: home };
  const folder = path.join(scratch, "pieces");
  mkdirSync(folder);
  const first = await freePorts();
  writeFileSync(path.join(folder, "settings.json"), JSON.stringify({ first_port: first }), { mode: 0o600 });
  const name = path.basename(built("debug", "fake-pieces")).replace("fake-pieces", `pieces-${first}`);
  const program = path.join(folder, name);
  copyFileSync(built("debug", "fake-pieces"), program);
  const launched = `programs = [${JSON.stringify(program)}]\nargs = [${JSON.stringify(folder)}]\nprocesses = ["${name}"]\n`;
  const identity = '[[find.identity]]\nask = "GET /.well-known/version"\nbody = "version"\n';
  const preset = `extends = "pieces-os"\n[find]\nports = "${first}-${first + 33}"\n${identity}`;
  mkdirSync(path.join(home, "presets"), { recursive: true });
  const systems = ["linux", "macos", "windows"].map((system) => `[${system}]\n${launched}`);
  writeFileSync(path.join(home, "presets", "pieces-os.toml"), preset + systems.join(""));
  const application = start(program, [folder]);
  appendFileSync(path.join(home, "config.toml"), '\n[upstreams.pieces]\npreset = "pieces-os"\nrestart = "always"\n');

  const connected = (isIt) => () => {
    const upstream = statusOf(evermoor, own, "pieces");
    return upstream?.link?.state === "connected" && isIt(upstream.app?.pid) && upstream.app.pid;
  };
  await until("a connection to the application", connected((pid) => pid === application.child.pid));
  application.child.kill("SIGABRT");
  const next = connected((pid) => pid && pid !== application.child.pid);
  restarted.push(await until("a restart of the application", next));
  const incidents = () => JSON.parse(must(evermoor, ["--json", "incidents", "pieces"], own)).incidents;
  const [incident] = await until("the outage of the application", () => incidents().length > 0 && incidents());
  say(`The application was started again, and its outage was recorded: ${JSON.stringify(incident).slice(0, 160)}`);
}

/** A secret that is missing, set, sent to a server, locked away, changed and removed. The gateway must never wait for a dialog. */
async function trySecret(evermoor, home, keychain) {
  const own = { EVERMOOR_HOME: home };
  const name = `canny-${process.pid}`;
  const sent = new Set();
  // It refuses each request, so the gateway comes back.
  const server = createHttpServer((request, answer) => {
    sent.add(request.headers.authorization);
    answer.writeHead(503).end();
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const entry = (upstream) =>
    `\n[upstreams.${upstream}]\nurl = "http://127.0.0.1:${server.address().port}/mcp"\nheaders.Authorization = "Bearer \${keyring:${name}}"\n`;
  const config = path.join(home, "config.toml");
  const before = readFileSync(config, "utf8");
  const code = (upstream) => statusOf(evermoor, own, upstream)?.link?.failure?.code;
  const listed = () => must(evermoor, ["secret", "list"], own).split("\n");
  const set = (value) => must(evermoor, ["secret", "set", name], own, value);
  try {
    writeFileSync(config, before + entry("vault"));
    await until("the secret is missed", () => code("vault") === "secret_missing");
    set("first");
    await until("the secret is used", () => sent.has("Bearer first"));
    if (!listed().includes(`${name}   set   used by vault`)) throw new Error(`the secret is not listed: ${listed()}`);
    keychain?.lock();
    if (keychain) {
      writeFileSync(config, before + entry("vault") + entry("locked"));
      await until("the keychain is locked", () => code("locked") === "keychain_refused");
      keychain.unlock();
    }
    set("second");
    await until("the new secret is used", () => sent.has("Bearer second"));
    must(evermoor, ["secret", "remove", name], own);
    if (listed().some((line) => line.startsWith(`${name}   set`))) throw new Error(`the secret is still there: ${listed()}`);
  } finally {
    writeFileSync(config, before);
    server.closeAllConnections();
    server.close();
  }
  say("A secret was set, used, changed and removed.");
}

/** Installs the service twice, as an update does, and removes it. */
async function tryService(evermoor, home) {
  const own = { EVERMOOR_HOME: home };
  const state = () => JSON.parse(spawnSync(evermoor, ["--json", "service", "status"], { encoding: "utf8", env: { ...env, ...own } }).stdout).state;
  must(evermoor, ["service", "install"], own);
  must(evermoor, ["service", "install"], own);
  await until("the service runs", () => state() === "running");
  must(evermoor, ["call", "demo__echo", "text=service"], own);
  must(evermoor, ["service", "uninstall"], own);
  must(evermoor, ["service", "uninstall"], own);
  if (state() !== "notInstalled") throw new Error(`the service is ${state()}`);
  say("The service was installed twice and removed twice.");
}

function newHome(scratch, name) {
  const home = path.join(scratch, name);
  mkdirSync(path.join(home, "run"), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(home, "config.toml"), '[gateway]\nlisten = "127.0.0.1:0"\n');
  return home;
}

// The temporary folder of macOS is behind a link, and programs report the real path of what they run.
const scratch = mkdtempSync(path.join(realpathSync(tmpdir()), "evermoor-app-"));
const given = process.argv.indexOf("--programs");
let keychain;
try {
  if (given > 0) {
    const evermoor = path.join(process.argv[given + 1], "evermoor");
    const home = newHome(scratch, "home");
    start(evermoor, ["serve"], { EVERMOOR_HOME: home });
    await gateway(home);
    await tryGateway(evermoor, home, scratch);
    await tryApplication(evermoor, home, scratch);
    if (process.argv.includes("--keychain")) await trySecret(evermoor, home);
  } else {
    if (process.platform !== "darwin" || !env.CI) throw new Error("this test changes your settings; it runs on macOS in CI only");
    const app = await bundle(scratch);
    say(must(path.join(root, "scripts", "package", "verify-app.sh"), [app]));
    const [evermoor, tray] = ["evermoor", "evermoor-tray"].map((name) => path.join(app, "Contents", "MacOS", name));
    keychain = useKeychain(path.join(scratch, "test.keychain-db"));
    const home = newHome(scratch, "home");
    const running = start(tray, ["--hidden"], { EVERMOOR_HOME: home });
    const { pid } = await gateway(home);
    const program = must("ps", ["-ww", "-o", "comm=", "-p", String(pid)]);
    if (program !== evermoor) throw new Error(`the gateway is ${program}`);
    await tryGateway(evermoor, home, scratch);
    await tryApplication(evermoor, home, scratch);
    await trySecret(evermoor, home, keychain);
    running.child.kill();
    must(evermoor, ["stop"], { EVERMOOR_HOME: home });
    await tryService(evermoor, newHome(scratch, "service"));
    must(built("debug", "login-item"), [tray]);
    say("Launch at login was set, read back and removed.");
  }
} catch (error) {
  giveUp(error.message);
  process.exitCode = 1;
} finally {
  started.forEach((child) => child.kill("SIGKILL"));
  restarted.forEach((pid) => process.kill(pid, "SIGKILL"));
  keychain?.remove();
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
