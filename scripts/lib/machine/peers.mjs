// Other proxies, installed by name for the benchmark.

import { existsSync } from "node:fs";
import path from "node:path";

import { command, npm, run } from "../run/command.mjs";
import { Unready, thisCommand } from "./machine.mjs";
import { say } from "../run/terminal.mjs";

/** The commands that install what is missing in `folder`. `has(file)`: whether a file exists. */
export function peerCommands(folder, has, system) {
  const python = path.join(folder, "venv", system === "win32" ? "Scripts/python.exe" : "bin/python");
  const crate = ["install", "--locked", "--root", path.join(folder, "cargo"), "mcp-proxy@0.6.0"];
  const packages = ["install", "--prefix", path.join(folder, "npm"), "supergateway@4.0.0", "mcp-remote@0.15.1"];
  const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "mcp-proxy==0.13.0"];
  const wanted = [
    { file: "cargo/bin/mcp-proxy", commands: [command("cargo", crate, { env: { CARGO_TARGET_DIR: undefined } })] },
    { file: "npm/node_modules/mcp-remote/package.json", commands: [npm(packages)] },
    {
      file: "venv/bin/mcp-proxy",
      commands: [command("python3", ["-m", "venv", path.join(folder, "venv")]), command(python, pip)],
    },
  ];
  return wanted.filter(({ file }) => !has(path.join(folder, file))).flatMap(({ commands }) => commands);
}

/** Installs the proxies that are missing. */
export async function installPeers(folder) {
  for (const line of peerCommands(folder, existsSync, process.platform)) {
    say(`  ${line.shown}`);
    const status = await run(line);
    if (status !== 0) throw new Unready(`"${line.shown}" failed with status ${status}; fix that, then run ${thisCommand()} again.`);
  }
}
