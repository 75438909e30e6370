// npm run screenshots: takes screenshots of every page, light and dark, with a real gateway and sample servers. Those that
// the documents use go to docs/screenshots, the others to a folder in the build folder, for review.

import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, symlinkSync } from "node:fs";
import path from "node:path";

import { connectEditor, freePort, installEditors, makeHome, startGateway } from "../tests/browser/gateway.mjs";
import { goTo, openBrowser } from "../tests/browser/page.mjs";
import { serveSample } from "../tests/browser/sample.mjs";
import { cargo } from "./lib/run/command.mjs";
import { buildDashboard } from "./lib/checks/dashboard.mjs";
import { env, root } from "./lib/machine/env.mjs";
import { main } from "./lib/run/main.mjs";
import { runSteps } from "./lib/run/steps.mjs";
import { say } from "./lib/run/terminal.mjs";

const published = ["overview", "upstream"];
const documents = path.join(root, "docs", "screenshots");
const review = path.join(env.CARGO_TARGET_DIR, "screenshots");
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Installs a fake PiecesOS, which the gateway finds by its port and restarts by its program. */
function installPieces(place, port) {
  const program = path.join(place.person, "PiecesOS");
  symlinkSync(process.execPath, program);
  const args = JSON.stringify([path.join(root, "tests/browser/sample.mjs"), "pieces", String(port), place.person]);
  place.write(
    ".evermoor/presets/pieces-os.toml",
    `extends = "pieces-os"
[find]
ports = "${port}"
[[find.identity]]
ask = "GET /.well-known/version"
body = "version"
[linux]
programs = [${JSON.stringify(program)}]
args = ${args}
processes = ["PiecesOS"]
`,
  );
  return { program, args: JSON.parse(args) };
}

async function takeScreenshots(page, name, settle = async () => {}) {
  const folder = published.includes(name) ? documents : review;
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
    await settle();
    await page.screenshot({ path: path.join(folder, `${name}-${colorScheme}.png`) });
  }
  say(`  ${name}`);
}

const HOURS = 6;

/** Memory samples of several hours: the memory grows, is freed once, and grows again. */
const memoryOfHours = (now) =>
  Array.from({ length: HOURS * 240 }, (_, index) => {
    const [at, hours] = [now - (HOURS * 240 - index) * 15_000, index / 240];
    const since = hours < 3.5 ? hours : hours - 3.5;
    const memory = 640e6 + since * (hours < 3.5 ? 560e6 : 240e6) + Math.sin(index / 9) * 25e6;
    return [at, Math.round(memory), 40 + (index % 17) * 6, Math.round(since * 3_600_000)];
  });

/** Starts a gateway once to create its history file, then adds samples from the past. */
async function addHistory(place, config) {
  const gateway = await startGateway(place, config);
  await gateway.stop();
  const write = `import json, sqlite3, sys
record = sqlite3.connect(sys.argv[1])
rows = [("pieces", at, 15000, memory, load, uptime) for at, memory, load, uptime in json.load(sys.stdin)]
record.executemany("INSERT INTO samples (app, at, span, memory, load, uptime) VALUES (?, ?, ?, ?, ?, ?)", rows)
record.commit()`;
  const input = JSON.stringify(memoryOfHours(Date.now()));
  execFileSync("python3", ["-c", write, path.join(place.home, "data", "history.sqlite")], { input });
}

/** Two editors make calls, then one server stops. */
async function makeCalls(gateway, linear) {
  const [claude, cursor] = [await connectEditor(gateway, "Claude Code", "2.1.4"), await connectEditor(gateway, "Cursor", "3.2.0")];
  // Latency is recorded per minute, so the chart needs several minutes of calls.
  for (let round = 0; round < 40; round++) {
    await claude.call("pieces__ask_pieces_ltm", { question: "?" });
    await Promise.all([claude.call("github__search_code", { query: "retry" }), cursor.call("files__list_directory", { path: "." })]);
    await cursor.call(round === 2 ? "files__read_text_file" : "github__list_issues", { path: "/nowhere", repository: "evermoor" });
    await pause(4_000);
  }
  await linear.stop();
  return [claude, cursor];
}

async function take() {
  const place = makeHome();
  installEditors(place);
  const { program, args } = installPieces(place, await freePort());
  // It exits when its folder is removed, even if the gateway restarted it.
  spawn(program, args, { stdio: "ignore", detached: true }).unref();
  const wait = () => 20 + Math.random() * 90;
  const [github, files, linear] = await Promise.all(["github", "files", "github"].map((name) => serveSample(name, 0, wait)));
  // Readers of the screenshots know the default port.
  const port = await freePort(7420);
  const config = `[gateway]
listen = "127.0.0.1:${port}"

[upstreams.pieces]
preset = "pieces-os"

[upstreams.github]
title = "GitHub"
url = "${github.url}"

[upstreams.files]
title = "Files"
url = "${files.url}"

[upstreams.linear]
title = "Linear"
url = "${linear.url}"
`;
  await addHistory(place, config);
  const gateway = await startGateway(place, config);
  const browser = await openBrowser({ width: 1160, height: 780 });
  const { page } = browser;
  let editors = [];
  try {
    await page.goto(gateway.link());
    await page.getByRole("heading", { level: 1, name: "Everything is connected" }).waitFor();
    editors = await makeCalls(gateway, linear);
    await goTo(page, "#/");
    await page.getByText("retrying in").first().waitFor();
    await takeScreenshots(page, "overview");
    await goTo(page, "#/upstreams/pieces");
    await page.getByRole("button", { name: "Restart PiecesOS" }).click();
    await pause(1_500);
    await takeScreenshots(page, "restart");
    await page.getByText(/is back after/).first().waitFor({ timeout: 60_000 });
    for (let round = 0; round < 5; round++) await editors[0].call("pieces__ask_pieces_ltm", { question: "?" });
    await pause(5_000);
    await goTo(page, "#/upstreams/pieces");
    await takeScreenshots(page, "upstream", () => pause(800));
    await page.getByRole("tab", { name: "Tools" }).click();
    await takeScreenshots(page, "tools");
    await page.getByRole("button", { name: "Try ask_pieces_ltm" }).click();
    await page.getByRole("textbox", { name: "question" }).fill("What did I work on yesterday?");
    await takeScreenshots(page, "try");
    await page.keyboard.press("Escape");
    await page.getByRole("tab", { name: "Log" }).click();
    await takeScreenshots(page, "log");
    await goTo(page, "#/editors");
    await takeScreenshots(page, "editors");
    await page.getByRole("button", { name: "Connect VS Code" }).click();
    await page.locator(".added").first().waitFor();
    await takeScreenshots(page, "connect");
    await page.keyboard.press("Escape");
    for (const name of ["activity", "incidents", "settings", "doctor", "welcome"]) {
      await goTo(page, `#/${name}`);
      await pause(300);
      await takeScreenshots(page, name);
    }
    await page.setViewportSize({ width: 420, height: 780 });
    await goTo(page, "#/");
    await takeScreenshots(page, "narrow");
    return 0;
  } finally {
    await browser.close();
    await Promise.all(editors.map((editor) => editor.stop()));
    await gateway.stop();
    await Promise.all([github.stop(), files.stop()]);
    await place.remove();
  }
}

await main(async () => {
  for (const folder of [documents, review]) mkdirSync(folder, { recursive: true });
  const status = await runSteps([buildDashboard(), { name: "program", command: cargo("build", "--locked", "-p", "evermoor") }]);
  if (status) return status;
  say(`Screenshots that no document uses go to ${review}.`);
  return take();
});
