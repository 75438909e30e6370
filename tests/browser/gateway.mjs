// A real gateway in its own home, with the files of several editors.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { built } from "../../scripts/lib/machine/env.mjs";
import { killAll } from "../../scripts/lib/run/processes.mjs";

const program = built("debug", "evermoor");

export function makeHome() {
  const person = mkdtempSync(path.join(tmpdir(), "evermoor-browser-"));
  const home = path.join(person, ".evermoor");
  mkdirSync(home);
  return {
    person,
    home,
    write: (name, content) => {
      const file = path.join(person, name);
      mkdirSync(path.dirname(file), { recursive: true });
      writeFileSync(file, content);
      return file;
    },
    /** Kills the processes in it first: a gateway outlives the editor that started it. */
    remove: async () => {
      await killAll(person);
      rmSync(person, { recursive: true, force: true });
    },
  };
}

/** Editors on this machine, some with their own servers. */
export function installEditors({ write }) {
  write(".claude.json", JSON.stringify({ mcpServers: { playwright: { command: "npx", args: ["@playwright/mcp"] } } }, null, 2));
  write(".cursor/mcp.json", JSON.stringify({ mcpServers: {} }, null, 2));
  write(".config/Code/User/mcp.json", JSON.stringify({ servers: { figma: { type: "http", url: "http://127.0.0.1:3845/mcp" } } }, null, 2));
  write(".config/zed/settings.json", '{\n  // A dark theme.\n  "theme": "One Dark"\n}\n');
}

/** A free port: the preferred one if possible. */
export const freePort = (wanted = 0) =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", (error) => (wanted ? resolve(freePort()) : reject(error)));
    server.listen(wanted, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Starts a gateway with `config`, or with the existing configuration. */
export function startGateway(place, config) {
  if (config) place.write(".evermoor/config.toml", config);
  return serve(place);
}

/**
 * Starts a gateway without a configuration: a first run. The default port may be in use, so it takes over from a gateway
 * on another port.
 */
export async function startFirstRun(place) {
  const file = place.write(".evermoor/config.toml", '[gateway]\nlisten = "127.0.0.1:0"\n');
  const first = await serve(place);
  rmSync(file);
  const gateway = await serve(place, "--takeover");
  await first.ended();
  return gateway;
}

/** The environment of programs in this home, without the environment of the user who runs the tests. */
function environment({ person, home }) {
  const { PATH, TMPDIR } = process.env;
  // Without an address, programs look for the session bus themselves.
  const own = { HOME: person, USERPROFILE: person, EVERMOOR_HOME: home, DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null" };
  return { PATH, TMPDIR, ...own };
}

async function serve(place, ...how) {
  const env = environment(place);
  const child = spawn(program, ["serve", ...how], { env, stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let said = "";
  await new Promise((resolve, reject) => {
    const hear = (chunk) => (said += chunk).includes("Try it") && resolve();
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("exit", (status) => reject(new Error(`the gateway exited with ${status}:\n${said}`)));
  });
  return {
    env,
    /** A one-time link to the dashboard. */
    link: () => spawnSync(program, ["open", "--print"], { env, encoding: "utf8" }).stdout.trim(),
    ended: () => ended,
    stop: () => {
      child.kill();
      return ended;
    },
  };
}

/** An editor connected through `evermoor connect`. */
export async function connectEditor({ env }, name, version) {
  const child = spawn(program, ["connect"], { env, stdio: ["pipe", "pipe", "ignore"] });
  const waiting = new Map();
  let rest = "";
  child.stdout.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop();
    for (const { id, ...answer } of lines.filter(Boolean).map((line) => JSON.parse(line))) {
      waiting.get(id)?.(answer);
      waiting.delete(id);
    }
  });
  const send = (message) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  let last = 0;
  const ask = (method, params) =>
    new Promise((resolve) => {
      const id = ++last;
      waiting.set(id, resolve);
      send({ id, method, params });
    });
  await ask("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version } });
  send({ method: "notifications/initialized" });
  return {
    call: (tool, args = {}) => ask("tools/call", { name: tool, arguments: args }),
    stop: () =>
      new Promise((resolve) => {
        child.once("exit", resolve);
        child.stdin.end();
      }),
  };
}
