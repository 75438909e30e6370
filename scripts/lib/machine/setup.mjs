// Installs what is missing: system packages, npm and Python packages, cargo tools. Prints what and why first.

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { ask, command, npm, run } from "../run/command.mjs";
import { root } from "./env.mjs";
import { Unready, checkMachine, hasProgram, pythonComplaint, thisCommand } from "./machine.mjs";
import { chooseManager, installCommands, missing } from "./requirements.mjs";
import { environment, isCurrent, stamp } from "./python.mjs";
import { say } from "../run/terminal.mjs";

/** `needs`: system packages. `folders`: folders with npm packages. `pythons`: folders with Python packages. `tools`: cargo tools. */
export async function setUp({ needs = [], folders = ["."], pythons = [], tools = [] }) {
  checkMachine();
  if (process.platform === "linux") await installNeeds(needs);
  for (const folder of folders) await installPackages(folder);
  for (const folder of pythons) await installPython(path.resolve(root, folder));
  for (const tool of tools) await installTool(tool);
}

async function installNeeds(needs) {
  const hasLibrary = (library) => ask("pkg-config", "--exists", library) !== undefined;
  const hasModule = (module) => ask("python3", "-c", `import ${module}`) !== undefined;
  const absent = missing(needs, hasProgram, hasLibrary, hasModule);
  if (absent.length === 0) return;
  const wanted = absent.map(({ what }) => what).join("; ");
  const manager = chooseManager(hasProgram);
  if (!manager) {
    throw new Unready(`Evermoor needs ${wanted}, and this script does not know this system's package manager: install it, then run ${thisCommand()} again.`);
  }
  const isRoot = process.getuid() === 0;
  const commands = installCommands(manager, absent, isRoot);
  if (!isRoot && !hasProgram("sudo")) {
    const line = commands[commands.length - 1].slice(1).join(" ");
    throw new Unready(`Evermoor needs ${wanted}: run this as root, then ${thisCommand()} again: ${line}`);
  }
  say(`This machine does not have ${wanted}.`);
  for (const [program, ...args] of commands) await must(command(program, args));
}

/** Whether node_modules differs from the lock file. Optional packages depend on the system. */
export function isStale(lock, installed) {
  return Object.entries(lock.packages).some(([place, { version, optional }]) => {
    if (place === "") return false;
    const found = installed.packages[place];
    return found ? found.version !== version : !optional;
  });
}

async function installPackages(folder) {
  const cwd = path.resolve(root, folder);
  const read = (file) => JSON.parse(readFileSync(path.join(cwd, file), "utf8"));
  // npm writes this file last, so an interrupted installation does not have it.
  const record = "node_modules/.package-lock.json";
  if (existsSync(path.join(cwd, record)) && !isStale(read("package-lock.json"), read(record))) return;
  say(`The npm packages of ${folder === "." ? "the project" : folder} are missing or out of date.`);
  // With ignore-scripts in the user's npm configuration, the Node of the test peers would be missing.
  await must(npm(["ci", "--loglevel=error", "--ignore-scripts=false"], { cwd }));
}

async function installPython(folder) {
  const place = environment(folder, process.platform);
  if (isCurrent(place)) return;
  const name = process.platform === "win32" ? "python" : "python3";
  const complaint = pythonComplaint(ask(name, "--version"), thisCommand());
  if (complaint) throw new Unready(complaint);
  say(`The Python packages of ${path.relative(root, folder)} are missing or out of date.`);
  await must(command(name, ["-m", "venv", "--clear", path.relative(root, place.home)]));
  const wanted = path.relative(root, place.wanted);
  await must(command(place.python, ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", wanted]));
  stamp(place);
}

async function installTool(tool) {
  if (ask("cargo", tool.replace("cargo-", ""), "--version") !== undefined) return;
  say(`${tool} is missing; cargo builds it once, which takes a few minutes.`);
  // Use a temporary build folder, which cargo removes.
  await must(command("cargo", ["install", "--locked", tool], { env: { CARGO_TARGET_DIR: undefined } }));
}

async function must(line) {
  say(`  ${line.shown}`);
  const status = await run(line);
  if (status !== 0) throw new Unready(`"${line.shown}" failed with status ${status}; fix that, then run ${thisCommand()} again.`);
}
