// Runs the tests beside an installed Evermoor, like one that you have running: with a home folder, an autostart entry,
// editors and, in CI, the default port. The tests get its home and session bus in their environment. They must not touch
// them, and must leave no process and no file behind.

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";

import { built, env as inherited } from "../machine/env.mjs";
import { killAll, processesOf, remaining } from "../run/processes.mjs";
import { giveUp } from "../run/terminal.mjs";

const DEFAULT_PORT = 7420;
/** A session bus address that does not exist. Without an address, programs search for a bus. */
const noBus = "unix:path=/dev/null";

/** The files that the installed Evermoor itself writes in its home while it runs. */
const ownFiles = [".local/state/evermoor/", ".local/share/evermoor/history.sqlite", ".local/share/evermoor/timelines.json", ".local/share/evermoor/catalogs/", "run/"];

/** Runs `work` beside an installed Evermoor. Resolves to its exit status, or to 1 if it touched or left anything. */
export async function besideInstalledInstance(work, { program = built("debug", "evermoor"), system = process.platform, patience } = {}) {
  // Only Linux lists the processes that are left.
  if (system !== "linux") return work({});
  if (!existsSync(program)) {
    giveUp(`${program} is missing: run npm test -- build first.`);
    return 1;
  }
  const evermoor = await start(program);
  try {
    const status = await work(evermoor.env);
    // Interrupted tests had no chance to clean up.
    const complaints = status === 130 ? [] : await evermoor.complaints(patience);
    complaints.forEach(giveUp);
    return status || (complaints.length > 0 ? 1 : 0);
  } finally {
    await evermoor.stop();
  }
}

async function start(program) {
  const folder = mkdtempSync(path.join(tmpdir(), "evermoor-beside-"));
  // Some tests start a program as another user, who must be able to reach the temporary files.
  chmodSync(folder, 0o711);
  const [person, runtime, temporary] = ["person", "person/run", "tmp"].map((name) => path.join(folder, name));
  mkdirSync(runtime, { recursive: true, mode: 0o700 });
  mkdirSync(temporary);
  // Outside CI the default port stays free for `npm start`.
  const isDefault = inherited.CI && (await isFree(DEFAULT_PORT));
  writeHome(person, isDefault ? DEFAULT_PORT : 0);
  const bus = await listenAsBus(path.join(runtime, "bus"));
  const stop = async () => {
    await killAll(folder);
    bus.close();
    rmSync(folder, { recursive: true, force: true });
  };
  const variables = { PATH: inherited.PATH, HOME: person, XDG_RUNTIME_DIR: runtime, TMPDIR: folder, DBUS_SESSION_BUS_ADDRESS: noBus };
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
      ...changes(before, contents(person)).map((change) => `The tests changed the home of the installed Evermoor: ${change}.`),
      ...(bus.visits() > 0 ? [`The tests connected to the user's session bus (${bus.visits()} times).`] : []),
      ...readdirSync(temporary).map((name) => `The tests left ${name} in the temporary folder.`),
      ...staleDisplays().filter((lock) => !locks.includes(lock)).map((lock) => `The tests left the lock of a display behind: ${lock}.`),
    ],
    stop,
  };
}

/** The environment of the tests: the home and session of the installed Evermoor, and our tools. */
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

/** Writes what a user of Evermoor has in the home folder. */
function writeHome(person, port) {
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

/** Starts it in its own process group: Ctrl-C is for the tests, and it is stopped after them. */
function serve(program, env) {
  const child = spawn(program, ["serve"], { env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk) => (output += chunk).includes("Try it") && resolve(child);
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", (status) => reject(new Error(`the installed Evermoor exited with ${status}:\n${output}`)));
  });
}

async function serving(child, folder) {
  if (!processesOf(folder).some(({ pid }) => pid === child.pid)) return ["The tests stopped the installed Evermoor."];
  const { origin, pid } = JSON.parse(readFileSync(path.join(folder, "person/run/evermoor/gateway.json"), "utf8"));
  if (pid !== child.pid) return [`The tests replaced the installed Evermoor with process ${pid}.`];
  const answer = await fetch(`${origin}/healthz`).catch(({ message }) => ({ ok: false, status: message }));
  return answer.ok ? [] : [`The installed Evermoor no longer answers: ${answer.status}.`];
}

/** What differs between two states of a home, apart from what its Evermoor writes. */
export function changes(before, after) {
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((name) => !ownFiles.some((start) => name.startsWith(start)));
  return names.sort().flatMap((name) => {
    if (!after.has(name)) return [`${name} is gone`];
    if (!before.has(name)) return [`${name} is new`];
    return before.get(name) === after.get(name) ? [] : [`${name} is changed`];
  });
}

/** Every file below `folder` by its relative path, with a digest of its content. */
export function contents(folder) {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true }).filter((entry) => entry.isFile());
  return new Map(
    entries.map((entry) => {
      const file = path.join(entry.parentPath, entry.name);
      return [path.relative(folder, file), createHash("sha256").update(readFileSync(file)).digest("hex")];
    }),
  );
}

/** A bus that counts connections and closes them. */
async function listenAsBus(socketPath) {
  let visits = 0;
  const server = createServer((socket) => {
    visits += 1;
    socket.on("error", () => {}).destroy();
  });
  await new Promise((resolve, reject) => server.once("error", reject).listen(socketPath, resolve));
  return { visits: () => visits, close: () => server.close() };
}

/** Locks of displays whose server is gone. They are always in /tmp. */
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
