// npm start: installs what is missing, builds Evermoor and runs it.
//
// With a display it runs the tray application, which starts the gateway. Without one it runs only the gateway, which needs
// no GUI library and prints the URL of its dashboard. Arguments after -- go to the program.

import { ask, cargo, command, run } from "./lib/run/command.mjs";
import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { built, env, hasDisplay } from "./lib/machine/env.mjs";
import { main } from "./lib/run/main.mjs";
import { forTheTray, toCompile } from "./lib/machine/requirements.mjs";
import { setUp } from "./lib/machine/setup.mjs";
import { bundleApp, trayProgram } from "./lib/package/app.mjs";
import { hostIn } from "./lib/package/program.mjs";
import { runSteps } from "./lib/run/steps.mjs";
import { heading } from "./lib/run/terminal.mjs";

await main(async (args) => {
  const display = hasDisplay(process.platform, env);
  const bundled = process.platform === "darwin";
  await setUp({ needs: display ? [...toCompile, ...forTheTray] : toCompile });

  // Separate builds: in one build, the gateway would get the library features that only the tray needs.
  const build = (name, of) => ({ name, command: cargo("build", "--release", "--locked", "-p", of) });
  const tray = display ? [build("tray", "evermoor-tray")] : [];
  const application = bundled ? [bundleApp(hostIn(ask("rustc", "-vV")))] : [];
  const status = await runSteps([buildDashboard(), build("program", "evermoor"), ...tray, ...application]);
  if (status !== 0) return status;

  const program = display
    ? command(bundled ? trayProgram() : built("release", "evermoor-tray"), args)
    : command(built("release", "evermoor"), ["serve", ...args]);
  heading("Evermoor", display ? "in the tray; press Ctrl-C to stop it" : "no display: only the gateway; press Ctrl-C to stop it");
  return run(program);
});
