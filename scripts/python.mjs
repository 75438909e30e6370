// The virtual environment of a folder with a requirements.txt: where it is, and whether it is what is wanted.

import { copyFileSync, existsSync, readFileSync } from "node:fs";
import path from "node:path";

/** Where things are in and about the environment of `folder`. */
export function environment(folder, system) {
  const home = path.join(folder, ".venv");
  const python = system === "win32" ? path.join(home, "Scripts", "python.exe") : path.join(home, "bin", "python");
  return { home, python, wanted: path.join(folder, "requirements.txt"), stamped: path.join(home, "requirements.txt") };
}

/** Whether the installation was finished, is of these requirements, and its Python is still there. */
export function isCurrent({ python, wanted, stamped }) {
  return existsSync(python) && existsSync(stamped) && readFileSync(stamped).equals(readFileSync(wanted));
}

/** Says that the installation is finished: called last, so that an interrupted one is done again. */
export function stamp({ wanted, stamped }) {
  copyFileSync(wanted, stamped);
}
