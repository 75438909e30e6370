// A page in a real browser, with its console errors recorded.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

import { chromium } from "playwright-core";

import { findBrowser } from "../../scripts/lib/machine/chromium.mjs";
import { killAll } from "../../scripts/lib/run/processes.mjs";

const quiet = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];

export async function openBrowser({ width = 1160, height = 820 } = {}) {
  const folder = mkdtempSync(path.join(tmpdir(), "evermoor-chromium-"));
  const context = await chromium.launchPersistentContext(folder, {
    executablePath: findBrowser(),
    headless: true,
    args: quiet,
    // Without the environment of the user who runs the tests, and with its own folder for temporary files.
    env: { PATH: process.env.PATH, LANG: process.env.LANG, HOME: folder, TMPDIR: folder, DBUS_SESSION_BUS_ADDRESS: "unix:path=/dev/null" },
    viewport: { width, height },
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(15_000);
  const page = context.pages()[0] ?? (await context.newPage());
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    // The page shows failed requests to the user itself.
    const expected = /Failed to load resource|net::ERR/.test(message.text());
    if (["error", "warning"].includes(message.type()) && !expected) faults.push(message.text());
  });
  return {
    page,
    /** Console errors: policy violations and script errors. */
    faults,
    close: async () => {
      await context.close();
      await killAll(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export const places = {
  overview: "#/",
  upstream: "#/upstreams/github",
  editors: "#/editors",
  activity: "#/activity",
  incidents: "#/incidents",
  settings: "#/settings",
  doctor: "#/doctor",
  welcome: "#/welcome",
};

/** Navigates like a link, and waits until the page's text is there. */
export async function goTo(page, hash) {
  await page.evaluate((hash) => (location.hash = hash), hash);
  await page.locator("h1").waitFor();
  // The page has loaded its data when only the streams are still open.
  await page.waitForFunction(() => !/…$/.test(document.querySelector("h1")?.textContent ?? "…"));
}
