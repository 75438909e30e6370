// A real gateway in a home of its own, with editors' files as a person has them.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { built } from "../../scripts/env.mjs";

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
    remove: () => rmSync(person, { recursive: true, force: true }),
  };
}

/** Editors that are on this machine, as their files say: some with servers of their own. */
export function installEditors({ write }) {
  write(".claude.json", JSON.stringify({ mcpServers: { playwright: { command: "npx", args: ["@playwright/mcp"] } } }, null, 2));
  write(".cursor/mcp.json", JSON.stringify({ mcpServers: {} }, null, 2));
  write(".config/Code/User/mcp.json", JSON.stringify({ servers: { figma: { type: "http", url: "http://127.0.0.1:3845/mcp" } } }, null, 2));
  write(".config/zed/settings.json", '{\n  // The theme of the evening.\n  "theme": "One Dark"\n}\n');
}

/** A port that nobody has at this moment. */
export const freePort = () =>
  new Promise((resolve, reject) => {
    const server = createServer().once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });

/** Starts a gateway. Without `config` it has the one that is there, or it is a first run. */
export async function startGateway(place, config) {
  const env = { PATH: process.env.PATH, HOME: place.person, USERPROFILE: place.person, EVERMOOR_HOME: place.home };
  if (config) place.write(".evermoor/config.toml", config);
  const child = spawn(program, ["serve"], { env, stdio: ["ignore", "pipe", "pipe"] });
  let said = "";
  await new Promise((resolve, reject) => {
    const hear = (chunk) => (said += chunk).includes("Try it") && resolve();
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("exit", (status) => reject(new Error(`the gateway ended with ${status}:\n${said}`)));
  });
  return {
    env,
    /** A link that lets a browser in, once. */
    link: () => spawnSync(program, ["open", "--print"], { env, encoding: "utf8" }).stdout.trim(),
    stop: () =>
      new Promise((resolve) => {
        child.removeAllListeners("exit").once("exit", resolve);
        child.kill();
      }),
  };
}

/** An editor that talks to the gateway through `evermoor connect`. */
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
