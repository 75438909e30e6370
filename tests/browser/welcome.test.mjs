// The first run in a real browser, on a machine without Evermoor.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";

import { AxeBuilder } from "@axe-core/playwright";

import { installEditors, makeHome, startFirstRun } from "./gateway.mjs";
import { goTo, openBrowser } from "./page.mjs";

let place, gateway, browser, page;

before(async () => {
  place = makeHome();
  installEditors(place);
  gateway = await startFirstRun(place);
  browser = await openBrowser({ width: 1000, height: 760 });
  page = browser.page;
});

after(async () => {
  await browser?.close();
  await gateway?.stop();
  await place?.remove();
});

async function checkAccessibility() {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  assert.deepEqual(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`), []);
}

const press = (name) => page.getByRole("button", { name, exact: true }).click();

test("the first run finds editors, shows each change, connects them, and ends in a real test", async () => {
  await page.goto(gateway.link());
  await page.getByRole("heading", { level: 1, name: /^Found: .*4 editors/ }).waitFor();
  await page.getByText("playwright").waitFor();
  await checkAccessibility();
  await press("Next");

  await page.getByRole("heading", { level: 1, name: "Point your editors at Evermoor" }).and(page.locator(":focus")).waitFor();
  await page.getByRole("checkbox", { name: "Zed" }).uncheck();
  await page.getByText("Show the change").first().click();
  await page.locator(".added").first().waitFor();
  await checkAccessibility();

  const moving = page.getByRole("checkbox", { name: /^Move figma behind Evermoor too/ });
  assert.equal(await moving.isChecked(), false, "nothing moves unless the user ticks it");
  await moving.check();
  await page.locator(".removed", { hasText: "figma" }).first().waitFor();
  await page.locator(".added", { hasText: "[upstreams.figma]" }).waitFor();
  await checkAccessibility();
  await press("Connect 3 editors");

  await page.getByRole("heading", { level: 1, name: "Keep it running" }).waitFor();
  await checkAccessibility();
  await press("Finish and test");
  await page.getByRole("heading", { level: 1, name: /^It works: \d+ tools? in / }).waitFor();
  await checkAccessibility();
  await press("Open the overview");
  await page.getByRole("region", { name: "Servers" }).waitFor();

  const read = (name) => readFileSync(path.join(place.person, name), "utf8");
  assert.match(read(".cursor/mcp.json"), /evermoor/);
  assert.match(read(".claude.json"), /playwright/);
  assert.doesNotMatch(read(".config/zed/settings.json"), /evermoor/);
  assert.match(read(".config/Code/User/mcp.json"), /evermoor/);
  assert.doesNotMatch(read(".config/Code/User/mcp.json"), /figma/);
  assert.match(read(".evermoor/config.toml"), /\[upstreams\.figma\]\s+url = "http:\/\/127\.0\.0\.1:3845\/mcp"/);
  assert.deepEqual(browser.faults, []);
});

test("one undo restores the servers that were moved to Evermoor", async () => {
  const file = (name) => path.join(place.person, name);
  await goTo(page, "#/editors");
  await page.getByRole("button", { name: "Undo VS Code", exact: true }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Undo" }).click();
  await page.getByText(/was removed from VS Code/).waitFor();
  const now = readFileSync(file(".config/Code/User/mcp.json"), "utf8");
  assert.deepEqual(JSON.parse(now), { servers: { figma: { type: "http", url: "http://127.0.0.1:3845/mcp" } } });
  const config = existsSync(file(".evermoor/config.toml")) ? readFileSync(file(".evermoor/config.toml"), "utf8") : "";
  assert.doesNotMatch(config, /figma/);
  assert.deepEqual(browser.faults, []);
});

test("the first run is offered only once", async () => {
  await page.goto("about:blank");
  await page.goto(gateway.link());
  await page.getByRole("region", { name: "Servers" }).waitFor();
  assert.equal(await page.getByText("Step 1 of 3").count(), 0);
});
