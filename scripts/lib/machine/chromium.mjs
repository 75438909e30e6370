// Finds the browser for the dashboard tests.

import { existsSync } from "node:fs";

const paths = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** The path of the browser, if there is one. `EVERMOOR_CHROMIUM` overrides it. */
export function findBrowser(env = process.env, exists = existsSync) {
  return [env.EVERMOOR_CHROMIUM, ...paths].find((path) => path && exists(path));
}
