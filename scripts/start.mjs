// npm start: installs what is missing, builds, and runs Evermoor.
//
// With a display that is the tray application, which starts the gateway; without one the gateway itself, which needs no
// GUI library and says where its dashboard is. Arguments after -- go to the program.

import { cargo, command, run } from "./command.mjs";
import { buildDashboard } from "./dashboard.mjs";
import { built, env, hasDisplay } from "./env.mjs";
import { main } from "./main.mjs";
import { forTheTray, toCompile } from "./needs.mjs";
import { setUp } from "./setup.mjs";
import { runSteps } from "./steps.mjs";
import { heading } from "./terminal.mjs";

await main(async (args) => {
  const display = hasDisplay(process.platform, env);
  await setUp({ needs: display ? [...toCompile, ...forTheTray] : toCompile });

  // One after the other: built together, the gateway would carry what only the tray needs of their libraries.
  const build = (name, of) => ({ name, command: cargo("build", "--release", "--locked", "-p", of) });
  const tray = display ? [build("tray", "evermoor-tray")] : [];
  const status = await runSteps([buildDashboard(), build("program", "evermoor"), ...tray]);
  if (status !== 0) return status;

  const program = display
    ? command(built("release", "evermoor-tray"), args)
    : command(built("release", "evermoor"), ["serve", ...args]);
  heading("Evermoor", display ? "in the tray; Ctrl-C ends it" : "no display: the gateway alone; Ctrl-C ends it");
  return run(program);
});
