// The browser that the dashboard is tried in.

import { existsSync } from "node:fs";

const homes = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

/** Its path, if there is one; `EVERMOOR_CHROMIUM` names another. */
export function findBrowser(env = process.env, exists = existsSync) {
  return [env.EVERMOOR_CHROMIUM, ...homes].find((home) => home && exists(home));
}
