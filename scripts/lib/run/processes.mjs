// Finds and kills the processes that belong to a folder: those whose command line or environment names it. Works only on
// Linux; other systems list none.

import { readFileSync, readdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const patience = 10_000;

/** Every process that belongs to `folder`, except those in `except`, as `{ pid, line }`. */
export function processesOf(folder, except = []) {
  const others = listed().filter((pid) => pid !== process.pid && !except.includes(pid));
  return others
    .map((pid) => ({ pid, line: read(pid, "cmdline").split("\0").join(" ").trim(), variables: read(pid, "environ") }))
    .filter(({ line, variables }) => line.includes(folder) || variables.includes(folder))
    .map(({ pid, line }) => ({ pid, line }));
}

/** The processes of `folder` that are left after `within`. Waits, because a killed process stays listed for a moment. */
export async function remaining(folder, except = [], within = patience) {
  const deadline = performance.now() + within;
  let found = processesOf(folder, except);
  while (found.length > 0 && performance.now() < deadline) {
    await sleep(20);
    found = processesOf(folder, except);
  }
  return found;
}

/** Kills every process that belongs to `folder`, including those that start meanwhile. */
export async function killAll(folder) {
  const deadline = performance.now() + patience;
  for (let found = processesOf(folder); found.length > 0; found = processesOf(folder)) {
    if (performance.now() > deadline) throw new Error(`process ${found[0].pid} does not exit: ${found[0].line}`);
    found.forEach(({ pid }) => kill(pid));
    await sleep(5);
  }
}

function listed() {
  try {
    return readdirSync("/proc").map(Number).filter(Number.isInteger);
  } catch {
    return [];
  }
}

/** Returns an empty string for a process that has exited or belongs to another user. */
function read(pid, what) {
  try {
    return readFileSync(`/proc/${pid}/${what}`, "utf8");
  } catch {
    return "";
  }
}

function kill(pid) {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    // It has exited already.
    if (error.code !== "ESRCH") throw error;
  }
}
