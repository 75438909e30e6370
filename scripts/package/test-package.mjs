// Tests the package: builds it from the test programs, unpacks it, and checks that the tray starts the gateway.
// `npm test` runs it last; `npm run build` builds the real package.

import { spawn, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { npx, run } from "../lib/run/command.mjs";
import { built, env } from "../lib/machine/env.mjs";
import { installed } from "../lib/package/program.mjs";
import { killAll, remaining } from "../lib/run/processes.mjs";
import { giveUp, say } from "../lib/run/terminal.mjs";

const timeout = 30_000;

async function makePackage(scratch) {
  // The bundler modifies the program, so it gets a copy.
  const debug = path.join(scratch, "target", "debug");
  mkdirSync(debug, { recursive: true });
  copyFileSync(built("debug", "evermoor-tray"), path.join(debug, "evermoor-tray"));
  const overlay = path.join(scratch, "overlay.json");
  const files = Object.fromEntries(installed("linux").map((name) => [`/usr/bin/${name}`, built("debug", name)]));
  writeFileSync(overlay, JSON.stringify({ bundle: { linux: { deb: { files } } } }));
  const bundle = npx("tauri", ["bundle", "--debug", "--bundles", "deb", "--config", overlay], "@tauri-apps/cli");
  const status = await run({ ...bundle, env: { CARGO_TARGET_DIR: path.join(scratch, "target") } });
  if (status !== 0) throw new Error(`the bundler exited with status ${status}`);
  const folder = path.join(debug, "bundle", "deb");
  return path.join(folder, readdirSync(folder).find((name) => name.endsWith(".deb")));
}

function must(program, ...args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", env });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")}: ${error?.message ?? stderr}`);
  return stdout.trim();
}

/** Stops the gateway and waits until it has exited, because it may write to its folder until then. */
async function end(pid) {
  process.kill(pid);
  const deadline = Date.now() + timeout;
  while (existsSync(`/proc/${pid}`)) {
    if (Date.now() > deadline) throw new Error("the gateway did not exit");
    await sleep(50);
  }
}

/** Starts the tray on a virtual display and waits until its gateway serves. */
async function startTray(place, scratch) {
  const home = path.join(scratch, "home");
  mkdirSync(path.join(home, "run"), { recursive: true, mode: 0o700 });
  writeFileSync(path.join(home, "config.toml"), '[gateway]\nlisten = "127.0.0.1:0"\n');
  const line = ["-a", "dbus-run-session", "--", path.join(place, "usr/bin/evermoor-tray"), "--hidden"];
  const own = { HOME: home, TMPDIR: home, XDG_RUNTIME_DIR: path.join(home, "run"), XDG_CONFIG_HOME: path.join(home, ".config") };
  const tray = spawn("xvfb-run", line, { env: { PATH: env.PATH, ...own, EVERMOOR_HOME: home, NO_AT_BRIDGE: "1" }, detached: true, stdio: "ignore" });
  const runtime = path.join(home, "run", "gateway.json");
  const deadline = Date.now() + timeout;
  try {
    while (!existsSync(runtime)) {
      if (tray.exitCode !== null) throw new Error(`the tray exited with status ${tray.exitCode}`);
      if (Date.now() > deadline) throw new Error("the packaged tray did not start a gateway");
      await sleep(50);
    }
    const { origin, pid } = JSON.parse(readFileSync(runtime, "utf8"));
    const health = await fetch(`${origin}/healthz`);
    const program = must("readlink", `/proc/${pid}/exe`);
    if (!health.ok) throw new Error(`the gateway answered with ${health.status}`);
    if (program !== path.join(place, "usr/bin/evermoor")) throw new Error(`the tray started ${program} instead of the packaged gateway`);
  } finally {
    // Kill the whole group with its display and bus. The tray goes first, or it would start another gateway.
    const ended = new Promise((resolve) => tray.once("exit", resolve));
    if (tray.exitCode === null) process.kill(-tray.pid);
    if (tray.exitCode === null && tray.signalCode === null) await ended;
    if (existsSync(runtime)) await end(JSON.parse(readFileSync(runtime, "utf8")).pid);
    // They usually exit on their own, and the display then removes its lock. Kill those that do not.
    await remaining(scratch);
    await killAll(scratch);
  }
}

const scratch = mkdtempSync(path.join(tmpdir(), "evermoor-package-"));
try {
  const deb = await makePackage(scratch);
  const place = path.join(scratch, "root");
  must("dpkg", "-x", deb, place);
  const about = must("dpkg-deb", "--field", deb, "Package", "Version", "Depends");
  say(about);
  const desktop = path.join(place, "usr/share/applications/Evermoor.desktop");
  if (!readFileSync(desktop, "utf8").includes("Exec=evermoor-tray")) throw new Error("its menu entry starts something else");
  say(must(path.join(place, "usr/bin/evermoor"), "--version"));
  if (!existsSync(path.join(place, "usr/bin/evermoor-shim"))) throw new Error("the shim is missing");
  await startTray(place, scratch);
  say("The programs of the package run, and the tray starts the gateway.");
} catch (error) {
  giveUp(error.message);
  process.exitCode = 1;
} finally {
  rmSync(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
}
