// Runs a script: prints a missing requirement as one sentence, sets the exit status, and lets bugs show their stack.

import { Unready } from "../machine/machine.mjs";
import { giveUp } from "./terminal.mjs";

export async function main(work) {
  try {
    process.exitCode = await work(process.argv.slice(2));
  } catch (error) {
    if (!(error instanceof Unready)) throw error;
    giveUp(error.message);
    process.exitCode = 1;
  }
}
