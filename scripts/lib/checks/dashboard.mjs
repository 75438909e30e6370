// The step that builds the dashboard, if its sources have changed.
//
// The programs embed the result, so writing the same files again would make cargo recompile them.

import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";

import { npx } from "../run/command.mjs";
import { root } from "../machine/env.mjs";

const stamp = path.join(root, "node_modules", ".cache", "evermoor", "dashboard");

export function buildDashboard() {
  let sources;
  return {
    name: "dashboard",
    command: npx("vite", ["build", "ui", "--logLevel", "warn"]),
    before: () => {
      sources = digest(["package-lock.json", ...filesIn("ui", ["dist"])]);
      const fresh = existsSync(path.join(root, "ui/dist/index.html")) && existsSync(stamp) && readFileSync(stamp, "utf8") === sources;
      return fresh ? "its sources have not changed" : undefined;
    },
    after: () => {
      mkdirSync(path.dirname(stamp), { recursive: true });
      writeFileSync(stamp, sources);
    },
  };
}

/** All files in `folder`, sorted, relative to the repository. */
function filesIn(folder, except = []) {
  return readdirSync(path.join(root, folder), { withFileTypes: true })
    .filter(({ name }) => !except.includes(name) && name !== "node_modules")
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesIn(path.join(folder, entry.name)) : [path.join(folder, entry.name)]));
}

function digest(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(`${file}\0`).update(readFileSync(path.join(root, file)));
  return hash.digest("hex");
}
