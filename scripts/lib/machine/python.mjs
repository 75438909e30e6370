// The Python virtual environment of a folder with a requirements.txt: its paths, and whether it is up to date.

import { copyFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** The paths of the environment of `folder`. */
export function environment(folder, system) {
  const home = path.join(folder, ".venv");
  const python = system === "win32" ? path.join(home, "Scripts", "python.exe") : path.join(home, "bin", "python");
  return { home, python, wanted: path.join(folder, "requirements.txt"), stamped: path.join(home, "requirements.txt") };
}

/** Whether the installation is complete, has these requirements, and its Python still exists. */
export function isCurrent({ python, wanted, stamped }) {
  return existsSync(python) && existsSync(stamped) && readFileSync(stamped).equals(readFileSync(wanted));
}

/** Marks the installation as complete. Called last, so that an interrupted installation is repeated. */
export function stamp({ wanted, stamped }) {
  copyFileSync(wanted, stamped);
}
