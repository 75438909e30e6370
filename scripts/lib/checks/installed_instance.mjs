// An Evermoor beside the tests, in the place of the one that a person has running: with a home, an autostart entry, editors
// and the usual port. The tests get its home and its session bus as theirs. They must not touch any of it, and must leave
// no process and no file behind.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { built, env as inherited } from "../machine/env.mjs";
import { endAll, processesOf, remaining } from "../run/processes.mjs";
import { giveUp } from "../run/terminal.mjs";

const USUAL_PORT = 7420;
/** A session bus that nobody is at. Without an address, programs look for one by themselves. */
const nobody = "unix:path=/dev/null";

/** What the Evermoor itself writes while it runs, below the home of its person. */
const own = [".local/state/evermoor/", ".local/share/evermoor/history.sqlite", ".local/share/evermoor/timelines.json", ".local/share/evermoor/catalogs/", "run/"];

/** Runs `work` beside an Evermoor and resolves to its exit status, or to 1 if it touched or left anything. */
export async function beside(work, { program = built("debug", "evermoor"), system = process.platform, patience } = {}) {
  // Only Linux tells which processes are left.
  if (system !== "linux") return work({});
  if (!existsSync(program)) {
    giveUp(`${program} is missing: run npm test -- build first.`);
    return 1;
  }
  const evermoor = await start(program);
  try {
    const status = await work(evermoor.env);
    // Tests that a person interrupted could not tidy up.
    const complaints = status === 130 ? [] : await evermoor.complaints(patience);
    complaints.forEach(giveUp);
    return status || (complaints.length > 0 ? 1 : 0);
  } finally {
    await evermoor.stop();
  }
}

async function start(program) {
  const folder = mkdtempSync(path.join(tmpdir(), "evermoor-beside-"));
  const [person, runtime, temporary] = ["person", "person/run", "tmp"].map((name) => path.join(folder, name));
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  mkdirSync(temporary);
  furnish(person, (await isFree(USUAL_PORT)) ? USUAL_PORT : 0);
  const bus = await listenAsBus(path.join(runtime, "bus"));
  const stop = async () => {
    await endAll(folder);
    bus.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const variables = { PATH: inherited.PATH, HOME: person, XDG_RUNTIME_DIR: runtime, TMPDIR: folder, DBUS_SESSION_BUS_ADDRESS: nobody };
  const child = await serve(program, variables).catch(async (error) => {
    await stop();
    throw error;
  });
  const [before, locks] = [contents(person), staleDisplays()];
  return {
    env: environment(inherited, { person, runtime, temporary }),
    complaints: async (patience) => [
      ...(await remaining(folder, [child.pid], patience)).map(({ pid, line }) => `The tests left process ${pid} running: ${line}`),
      ...(await serving(child, folder)),
      ...changes(before, contents(person)).map((change) => `The tests reached the home of the Evermoor beside them: ${change}.`),
      ...(bus.visits() > 0 ? [`The tests connected to the session bus of the person who runs them (${bus.visits()} times).`] : []),
      ...readdirSync(temporary).map((name) => `The tests left ${name} in the folder for temporary files.`),
      ...staleDisplays().filter((lock) => !locks.includes(lock)).map((lock) => `The tests left the lock of a display: ${lock}.`),
    ],
    stop,
  };
}

/** The environment of the tests: the home and the session are those of the Evermoor beside them, the tools are ours. */
export function environment(ours, { person, runtime, temporary }) {
  return {
    HOME: person,
    XDG_RUNTIME_DIR: runtime,
    DBUS_SESSION_BUS_ADDRESS: `unix:path=${path.join(runtime, "bus")}`,
    TMPDIR: temporary,
    CARGO_HOME: ours.CARGO_HOME || path.join(ours.HOME, ".cargo"),
    RUSTUP_HOME: ours.RUSTUP_HOME || path.join(ours.HOME, ".rustup"),
    ...Object.fromEntries(
      ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "DISPLAY", "WAYLAND_DISPLAY", "EVERMOOR_HOME"].map((name) => [name, undefined]),
    ),
  };
}

/** What a person who uses Evermoor has in their home. */
function furnish(person, port) {
  const files = {
    ".config/evermoor/config.toml": `[gateway]\nlisten = "127.0.0.1:${port}"\n`,
    ".config/autostart/Evermoor.desktop": "[Desktop Entry]\nType=Application\nName=Evermoor\nExec=evermoor-tray --hidden\n",
    ".config/systemd/user/evermoor.service": "[Service]\nExecStart=evermoor serve\n",
    ".cursor/mcp.json": '{ "mcpServers": {} }\n',
    ".claude.json": "{}\n",
  };
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(person, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** In a group of its own: a Ctrl-C is for the tests, and it is ended after them. */
function serve(program, env) {
  const child = spawn(program, ["serve"], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (chunk) => (said += chunk).includes("Try it") && resolve(child);
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("exit", (status) => reject(new Error(`the Evermoor beside the tests ended with ${status}:\n${said}`)));
  });
}

async function serving(child, folder) {
  if (!processesOf(folder).some(({ pid }) => pid === child.pid)) return ["The tests ended the Evermoor that ran beside them."];
  const { origin, pid } = JSON.parse(readFileSync(path.join(folder, "person/run/evermoor/gateway.json"), "utf8"));
  if (pid !== child.pid) return [`The tests replaced the Evermoor that ran beside them by process ${pid}.`];
  const answer = await fetch(`${origin}/healthz`).catch(({ message }) => ({ ok: false, status: message }));
  return answer.ok ? [] : [`The Evermoor beside the tests does not answer any more: ${answer.status}.`];
}

/** What differs between two contents of a home, apart from what its Evermoor writes. */
export function changes(before, after) {
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((name) => !own.some((start) => name.startsWith(start)));
  return names.sort().flatMap((name) => {
    if (!after.has(name)) return [`${name} is gone`];
    if (!before.has(name)) return [`${name} is new`];
    return before.get(name) === after.get(name) ? [] : [`${name} is changed`];
  });
}

/** Every file below `folder` by its path from there, with a digest of its content. */
export function contents(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(folder, file), createHash("sha256").update(readFileSync(file)).digest("hex")];
    }),
  );
}

/** Counts who comes, and turns them away. */
async function listenAsBus(place) {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.on("error", () => {}).destroy();
  });
  await new Promise((resolve, reject) => server.once("error", reject).listen(place, resolve));
  return { visits: () => visits, close: () => server.close() };
}

/** The locks of displays whose server is gone. They are in a fixed place, wherever temporary files are. */
function staleDisplays() {
  const locks = readdirSync("/tmp").filter((name) => /^\.X\d+-lock$/.test(name));
  return locks.map((name) => path.join("/tmp", name)).filter((lock) => {
    const owner = existsSync(lock) ? readFileSync(lock, "utf8").trim() : undefined;
    return owner && !existsSync(`/proc/${owner}`);
  });
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
