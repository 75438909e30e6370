// A keychain for a test on macOS, in place of the user's until `remove` is called.

import { spawnSync } from "node:child_process";

const password = "test";

function security(...args) {
  const { status, stdout, stderr, error } = spawnSync("security", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`security ${args[0]}: ${error?.message ?? stderr}`);
  return stdout.trim();
}

/** The path in the output of `security default-keychain`. */
export function pathIn(output) {
  return output.trim().replace(/^"|"$/g, "");
}

/** Makes an unlocked keychain in `file`, and the default one. */
export function useKeychain(file) {
  const before = pathIn(security("default-keychain", "-d", "user"));
  security("create-keychain", "-p", password, file);
  // Without this, it locks itself after five minutes.
  security("set-keychain-settings", file);
  const unlock = () => security("unlock-keychain", "-p", password, file);
  unlock();
  security("default-keychain", "-d", "user", "-s", file);
  return {
    lock: () => security("lock-keychain", file),
    unlock,
    remove() {
      security("default-keychain", "-d", "user", "-s", before);
      security("delete-keychain", file);
    },
  };
}
