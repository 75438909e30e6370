// Takes a screenshot of the tray menu in a real panel, for docs/screenshots: `node scripts/tray-screenshots.mjs`, after
// `npm test` has built the programs. It restarts itself on a virtual display with its own session bus.

import { execFileSync, spawn } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

import { built, env, root } from "./lib/machine/env.mjs";
import { main } from "./lib/run/main.mjs";
import { forThePictures } from "./lib/machine/requirements.mjs";
import { killAll, remaining } from "./lib/run/processes.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { say } from "./lib/run/terminal.mjs";

const screenshots = path.join(root, "docs", "screenshots");
const inside = process.env.EVERMOOR_PANEL_HOME;

/** Creates the home folder first, because bus services inherit the environment of the bus. */
async function outside() {
  await setUp({ needs: forThePictures });
  const home = mkdtempSync(path.join(tmpdir(), "evermoor-panel-"));
  const settings = path.join(home, ".config", "xfce4", "xfconf", "xfce-perchannel-xml");
  mkdirSync(settings, { recursive: true });
  mkdirSync(path.join(home, "run"), { mode: 0o700 });
  copyFileSync(path.join(root, "scripts", "tray-screenshots.xml"), path.join(settings, "xfce4-panel.xml"));
  // Without the environment of the user's desktop.
  const own = {
    PATH: env.PATH,
    LANG: env.LANG,
    CARGO_TARGET_DIR: env.CARGO_TARGET_DIR,
    HOME: home,
    TMPDIR: home,
    XDG_CONFIG_HOME: path.join(home, ".config"),
    XDG_RUNTIME_DIR: path.join(home, "run"),
    XDG_CURRENT_DESKTOP: "XFCE",
    NO_AT_BRIDGE: "1",
    EVERMOOR_PANEL_HOME: home,
    EVERMOOR_HOME: path.join(home, "evermoor"),
  };
  const line = ["-a", "-s", "-screen 0 720x420x24", "dbus-run-session", "--", process.execPath, ...process.argv.slice(1)];
  const child = spawn("xvfb-run", line, { env: own, stdio: "inherit" });
  const status = await new Promise((resolve) => child.once("exit", resolve));
  await remaining(home);
  await killAll(home);
  rmSync(home, { recursive: true, force: true });
  return status ?? 1;
}

/** One server that is down and one that runs. */
const configuration = () => `[gateway]
listen = "127.0.0.1:0"

[upstreams.pieces]
title = "PiecesOS"
url = "http://127.0.0.1:1/mcp"

[upstreams.files]
title = "Files"
command = ${JSON.stringify(built("debug", "fake-stdio"))}
args = [${JSON.stringify(path.join(inside ?? "", "files"))}]
`;

async function until(what, happened) {
  for (let left = 300; left > 0; left--) {
    if (await happened()) return;
    await sleep(100);
  }
  throw new Error(`not seen in time: ${what}`);
}

async function status(home) {
  const file = path.join(home, "run", "gateway.json");
  if (!existsSync(file)) return undefined;
  const { origin, controlToken } = JSON.parse(readFileSync(file, "utf8"));
  const answer = await fetch(`${origin}/api/status`, { headers: { authorization: `Bearer ${controlToken}` } });
  return answer.json();
}

const shot = (name) => execFileSync("import", ["-window", "root", "-trim", path.join(screenshots, `${name}.png`)]);
const press = (...keys) => execFileSync("xdotool", keys);

async function insideTheDisplay() {
  const home = process.env.EVERMOOR_HOME;
  mkdirSync(home, { recursive: true });
  const config = path.join(home, "config.toml");
  writeFileSync(config, configuration());
  const start = (program, ...args) => spawn(program, args, { env: process.env, stdio: "ignore" });
  const panel = start("xfce4-panel", "--disable-wm-check");
  const tray = start(built("debug", "evermoor-tray"), "--hidden");
  try {
    await until("the servers settle", async () => (await status(home))?.overall === "degraded");
    // There is no event for when the panel has drawn the icon.
    await sleep(4000);
    press("mousemove", "16", "16", "click", "1");
    await sleep(1500);
    shot("tray-menu-degraded");
    say("Look at docs/screenshots/tray-menu-degraded.png.");
    return 0;
  } finally {
    tray.kill();
    panel.kill();
    const file = path.join(home, "run", "gateway.json");
    if (existsSync(file)) process.kill(JSON.parse(readFileSync(file, "utf8")).pid);
  }
}

await main(inside ? insideTheDisplay : outside);
