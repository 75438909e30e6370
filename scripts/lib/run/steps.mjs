// Runs steps in order, prints how long each took, stops at the first failure and says how to run that step alone.
//
// A step is { name, command, skip?, before?, around?, after?, unavailable? }:
//   skip         a reason to skip it
//   before       a function that may return such a reason just before the step runs
//   around       wraps the run: gets a function that runs the step with extra environment variables, and resolves to the exit status
//   after        a function that is called if the step succeeds
//   unavailable  the exit status that means "not possible on this machine"

import { run } from "./command.mjs";
import { Unready, thisCommand } from "../machine/machine.mjs";
import { duration, giveUp, heading, paint, say } from "./terminal.mjs";

/** The steps with these names, or all steps. */
export function choose(steps, names) {
  const known = steps.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Unready(`There is no step "${unknown}"; the steps are ${known.join(", ")}.`);
  return names.length === 0 ? steps : steps.filter(({ name }) => names.includes(name));
}

/** Resolves to the exit status. `summary`: prints a table of the times. */
export async function runSteps(steps, { summary = false } = {}) {
  const done = [];
  let status = 0;
  for (const step of steps) {
    const result = await runStep(step);
    done.push({ name: step.name, ...result });
    if (result.outcome === "failed") {
      status = result.status;
      break;
    }
  }
  if (summary) say(table(done));
  const last = done[done.length - 1];
  // After Ctrl-C the user knows why it stopped.
  if (status !== 0 && status !== 130) {
    const { name, command } = steps[done.length - 1];
    giveUp(`\n${name} failed with status ${status} after ${duration(last.took)}: ${command.shown}`);
    if (summary) say(`Run it alone: ${thisCommand()} -- ${name}`);
  }
  return status;
}

async function runStep({ name, command, skip, before, around = (work) => work({}), after, unavailable }) {
  const began = performance.now();
  const reason = skip || (before && before());
  if (reason) {
    say(`\n${paint("dim", `== ${name}: skipped, ${reason}`)}`);
    return { outcome: "skipped", status: 0, took: performance.now() - began };
  }
  heading(name, command.shown);
  let status;
  try {
    status = await around((variables) => run({ ...command, env: { ...command.env, ...variables } }));
  } catch (error) {
    giveUp(`${command.program} could not be started: ${error.message}`);
    status = 127;
  }
  const took = performance.now() - began;
  if (status !== 0 && status === unavailable) return { outcome: "skipped", status, took };
  if (status !== 0) return { outcome: "failed", status, took };
  if (after) after();
  say(paint("green", `   ${name}: ${duration(took)}`));
  return { outcome: "ok", status, took };
}

export function table(done) {
  const width = Math.max(5, ...done.map(({ name }) => name.length));
  const rows = done.map(({ name, outcome, took }) => {
    const mark = outcome === "ok" ? duration(took) : outcome;
    const style = { ok: "green", failed: "red", skipped: "dim" }[outcome];
    return `  ${name.padEnd(width)}  ${paint(style, mark.padStart(12))}`;
  });
  const total = done.reduce((sum, { took }) => sum + took, 0);
  return ["", ...rows, `  ${"total".padEnd(width)}  ${duration(total).padStart(12)}`].join("\n");
}
