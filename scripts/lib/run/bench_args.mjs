// The arguments of `npm run bench`. They are checked before anything is installed, built or measured.

export const usage = `Usage: npm run bench [-- <arguments>]

  no arguments  measures everything and writes docs/performance.md
  --quick       fewer repetitions; prints the tables and writes nothing
  --peers       also installs and measures other proxies
  versions      only measures calls between MCP versions; writes nothing
  load          only measures many sessions and calls at once; writes nothing
  sign-in       only measures what a sign-in to the server costs a call; writes nothing
  --help        prints this text`;

/** What to do: show the usage, refuse a mistake, or run with `peers` and the arguments `others`. */
export function readBenchArgs(args) {
  if (args.some((arg) => arg === "--help" || arg === "-h")) return { help: true };
  const flags = ["--quick", "--peers"];
  const unknown = args.find((arg) => ![...flags, "versions", "load", "sign-in"].includes(arg));
  if (unknown !== undefined) return { mistake: `There is no argument "${unknown}".` };
  const parts = args.filter((arg) => !flags.includes(arg));
  if (parts.length > 0 && args.length > 1) return { mistake: `"${parts[0]}" is used alone.` };
  return { peers: args.includes("--peers"), others: args.filter((arg) => arg !== "--peers") };
}
