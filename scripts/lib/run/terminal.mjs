// Output of the scripts: plain lines, with colour only on a terminal.

const ansi = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33 };

/** Whether colour is wanted; see no-color.org. */
export function wantsColour(env, isTTY) {
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR) return env.FORCE_COLOR !== "0";
  return Boolean(isTTY) && env.TERM !== "dumb";
}

export const colour = wantsColour(process.env, process.stdout.isTTY);

export function paint(style, text) {
  return colour ? `\u001b[${ansi[style]}m${text}\u001b[0m` : text;
}

export function heading(name, detail) {
  console.log(`\n${paint("bold", `== ${name}`)}${detail ? `  ${paint("dim", detail)}` : ""}`);
}

export function say(text) {
  console.log(text);
}

/** Prints why the script cannot continue. */
export function giveUp(text) {
  console.error(paint("red", text));
}

/** 850 ms, 12.3 s, 4 min 05 s */
export function duration(milliseconds) {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  if (milliseconds < 59_950) return `${(milliseconds / 1000).toFixed(1)} s`;
  const seconds = Math.round(milliseconds / 1000);
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}
