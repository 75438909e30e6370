// The dashboard in a real browser, against a real gateway.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { after, afterEach, before, describe, test } from "node:test";

import { AxeBuilder } from "@axe-core/playwright";

import { connectEditor, freePort, installEditors, makeHome, startGateway } from "./gateway.mjs";
import { goTo, openBrowser, places } from "./page.mjs";
import { serveSample } from "./sample.mjs";

let place, files, github, gateway, editor, browser, page;
const configuration = () => readFileSync(path.join(place.home, "config.toml"), "utf8");

before(async () => {
  place = makeHome();
  installEditors(place);
  [github, files] = await Promise.all([serveSample("github"), serveSample("files")]);
  gateway = await startGateway(
    place,
    `# Written by hand.
[gateway]
listen = "127.0.0.1:${await freePort()}"

[upstreams.github]
title = "GitHub"
url = "${github.url}"  # used at work

[upstreams.files]
title = "Files"
url = "${files.url}"

[upstreams.notes]
title = "Notes"
url = "http://127.0.0.1:9/mcp"
enabled = false
`,
  );
  editor = await connectEditor(gateway, "claude-code", "2.1.4");
  browser = await openBrowser();
  page = browser.page;
  await page.goto(gateway.link());
  await page.getByRole("heading", { level: 1, name: "Everything is connected" }).waitFor();
});

after(async () => {
  await browser?.close();
  await editor?.stop();
  await gateway?.stop();
  await Promise.all([github?.stop(), files?.stop()]);
  await place?.remove();
});

afterEach(() => assert.deepEqual(browser.faults.splice(0), [], "the console shows no errors"));

async function violations() {
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(true).analyze();
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join("\n")}`);
}

describe("every page", () => {
  for (const [name, hash] of Object.entries(places)) {
    test(`axe finds no violations on ${name}, light and dark`, async () => {
      await goTo(page, hash);
      for (const colorScheme of ["dark", "light"]) {
        await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
        assert.deepEqual(await violations(), [], colorScheme);
      }
    });

    test(`${name} fits in 420 pixels, and in 320, as at 400 % zoom`, async () => {
      await goTo(page, hash);
      for (const width of [420, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= width, `the page is ${wide} pixels wide in a window of ${width}`);
      }
      await page.setViewportSize({ width: 1160, height: 820 });
    });

    test(`every control of ${name} shows the focus`, async () => {
      await goTo(page, hash);
      const unseen = await page.evaluate(async () => {
        const inTurn = [...document.querySelectorAll("a[href], button, input, select, textarea, summary, [tabindex='0']")];
        const shown = inTurn.filter((one) => one.checkVisibility() && !one.disabled);
        const hidden = [];
        for (const one of shown) {
          one.focus({ focusVisible: true });
          const { outlineStyle, outlineWidth } = getComputedStyle(one);
          if (document.activeElement !== one || outlineStyle === "none" || outlineWidth === "0px") hidden.push(one.outerHTML.slice(0, 120));
        }
        return hidden;
      });
      assert.deepEqual(unseen, []);
    });
  }
});

test("the keyboard is enough to move between pages, and each page starts at its top", async () => {
  await goTo(page, places.overview);
  await page.locator("body").press("Tab");
  await page.keyboard.press("Tab");
  const editors = page.getByRole("link", { name: "Editors", exact: true });
  for (let presses = 0; presses < 20 && !(await editors.evaluate((link) => link === document.activeElement)); presses++) {
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: /editor/i }).waitFor();
  assert.equal(await page.evaluate(() => document.activeElement?.tagName), "MAIN");
  assert.equal(await editors.getAttribute("aria-current"), "page");
});

test("the overview lists the connected editors, and copies the endpoint", async () => {
  await goTo(page, places.overview);
  await page.getByRole("region", { name: "Connected now" }).getByText("claude-code 2.1.4").waitFor();
  await page.getByRole("button", { name: "Copy the endpoint" }).click();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^http:\/\/127\.0\.0\.1:\d+\/mcp$/);
});

test("a call appears as it happens, and can be filtered by its outcome", async () => {
  await goTo(page, places.activity);
  await editor.call("github__search_code", { query: "retry" });
  await page.getByRole("cell", { name: "search_code" }).first().waitFor();
  await editor.call("files__read_text_file", { path: "/nowhere" });
  await page.getByRole("cell", { name: "Tool failed" }).first().waitFor();
  await page.getByLabel("Outcome").selectOption("toolError");
  await page.getByRole("cell", { name: "search_code" }).first().waitFor({ state: "detached" });
  assert.equal(await page.getByText("retry").count(), 0);
});

test("a tool is tried with a form made from its schema", async () => {
  await goTo(page, places.upstream);
  await page.getByRole("tab", { name: "Tools" }).click();
  await page.getByRole("button", { name: "Try list_issues" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("button", { name: "Call" }).click();
  await dialog.getByText("Required.").waitFor();
  await dialog.getByRole("textbox", { name: "repository" }).fill("evermoor");
  await dialog.getByRole("textbox", { name: "labels" }).fill("bug");
  await dialog.getByLabel("state").selectOption("open");
  assert.deepEqual(await violations(), []);
  await dialog.getByRole("button", { name: "Call" }).click();
  await dialog.getByText(/list_issues was called with .*"labels":\["bug"\]/).waitFor();
  await page.keyboard.press("Escape");
  await dialog.waitFor({ state: "detached" });
  const trying = page.getByRole("button", { name: "Try list_issues" });
  await trying.and(page.locator(":focus")).waitFor();
});

test("a tool that is switched off is hidden from editors, and the file keeps its comments", async () => {
  await goTo(page, places.upstream);
  await page.getByRole("tab", { name: "Tools" }).click();
  await page.getByRole("switch", { name: "Show merge_pull_request to editors" }).click();
  await page.getByText("5 of 6 tools shown").waitFor();
  assert.match(configuration(), /merge_pull_request/);
  assert.match(configuration(), /# used at work/);
});

test("an outage is shown with the next attempt, and is recorded as an incident", async () => {
  await goTo(page, "#/upstreams/files");
  await files.stop();
  await page.getByText(/retrying in \d+ s|retrying now/).first().waitFor();
  await goTo(page, places.overview);
  await page.getByRole("banner").last().or(page.locator("main header")).getByRole("button", { name: "Reconnect Files" }).first().waitFor();
  files = await serveSample("files", files.port);
  await page.getByRole("heading", { level: 1, name: "Everything is connected" }).waitFor();
  await goTo(page, places.incidents);
  await page.locator("summary", { hasText: "Files" }).first().waitFor();
  await page.getByRole("button", { name: "Copy all as Markdown" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.match(await page.evaluate(() => navigator.clipboard.readText()), /Files/);
});

test("a setting is written to the file, and an invalid one is refused with a message", async () => {
  await goTo(page, places.settings);
  const hold = page.getByRole("textbox", { name: "Hold calls for" });
  await hold.fill("40s");
  await hold.press("Enter");
  await page.getByRole("button", { name: "Save Hold calls for" }).waitFor({ state: "detached" });
  assert.match(configuration(), /hold = "40s"/);
  assert.match(configuration(), /^# Written by hand\./);
  await hold.fill("a while");
  await hold.press("Enter");
  await page.locator(".failure:not(:empty)").waitFor();
  assert.match(configuration(), /hold = "40s"/);
});

test("an editor is connected after the exact change was shown, and that can be undone", async () => {
  await goTo(page, places.editors);
  await page.getByRole("button", { name: "Connect Zed" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.locator(".added").first().waitFor();
  assert.deepEqual(await violations(), []);
  await dialog.getByRole("button", { name: "Connect", exact: true }).click();
  await page.getByText(/^Zed is connected\./).waitFor();
  const file = () => readFileSync(path.join(place.person, ".config/zed/settings.json"), "utf8");
  assert.match(file(), /evermoor/);
  assert.match(file(), /A dark theme/);
  await page.getByRole("button", { name: "Undo Zed" }).click();
  await dialog.getByRole("button", { name: "Undo" }).click();
  await page.getByText(/was removed from Zed/).waitFor();
  assert.doesNotMatch(file(), /evermoor/);
});

test("the tray's restart link focuses the reconnect button", async () => {
  await goTo(page, "#/upstreams/github?restart");
  await page.getByRole("button", { name: "Reconnect GitHub" }).and(page.locator(":focus")).waitFor();
});

test("while no gateway runs, the last known state stays and is marked as old; the next gateway is found without a new link", async () => {
  await goTo(page, places.doctor);
  // A connected editor would start a gateway.
  await editor.stop();
  editor = undefined;
  await gateway.stop();
  await page.getByText(/Last known state/).waitFor();
  assert.ok(await page.locator("main.old").count());
  await goTo(page, places.overview);
  await page.getByRole("article", { name: "GitHub" }).waitFor();
  gateway = await startGateway(place);
  await page.getByRole("heading", { level: 1, name: "Everything is connected" }).waitFor();
  assert.equal(await page.locator("main.old").count(), 0);
});
