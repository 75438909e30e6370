// A person signs in to a server in a real browser: the dashboard, the page of the authorization server,
// and the page that says whether it worked.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import path from "node:path";
import { after, before, test } from "node:test";

import { freePort, makeHome, startGateway } from "./gateway.mjs";
import { goTo, openBrowser } from "./page.mjs";

const peers = path.join(import.meta.dirname, "../peers");

let place, protectedServer, gateway, browser, page;

before(async () => {
  place = makeHome();
  protectedServer = await serveProtected();
  gateway = await startGateway(
    place,
    `[gateway]
listen = "127.0.0.1:${await freePort()}"
sign_ins_file = "${place.home}/sign-ins.json"

[upstreams.linear]
title = "Linear"
url = "${protectedServer.url}"
auth = "oauth"
`,
  );
  browser = await openBrowser();
  page = browser.page;
  await page.goto(gateway.link());
  await page.getByRole("heading", { level: 1, name: "Linear wants you to sign in" }).waitFor();
});

after(async () => {
  await browser?.close();
  await gateway?.stop();
  protectedServer?.stop();
  await place?.remove();
});

/** A server that wants a sign-in. The person is shown a page with two links. */
async function serveProtected() {
  const node = path.join(peers, "node_modules/node/bin/node");
  const options = JSON.stringify({ person: "ask" });
  const child = spawn(node, [path.join(peers, "authorization/main.mjs"), options], { stdio: ["ignore", "pipe", "ignore"] });
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith("{")) return { url: JSON.parse(line).resource, stop: () => child.kill() };
  }
  throw new Error("the server ended");
}

/** Begins a sign-in, and returns the page of the authorization server. */
async function begin() {
  const opened = page.context().waitForEvent("page");
  await page.getByRole("button", { name: "Sign in" }).click();
  const login = await opened;
  await login.getByRole("heading", { name: "Evermoor wants access" }).waitFor();
  return login;
}

test("a person who declines is told so, and the server stays signed out", async () => {
  await goTo(page, "#/upstreams/linear");
  const login = await begin();
  await login.getByRole("link", { name: "Decline" }).click();
  await login.getByRole("heading", { name: "You are not signed in to Linear." }).waitFor();
  await page.getByRole("button", { name: "Sign in" }).waitFor();
  await login.close();
});

test("a person who allows it is signed in, and the dashboard shows it at once", async () => {
  const login = await begin();
  // The authorization server asks twice: who it is, and what is allowed.
  await login.getByRole("link", { name: "Allow" }).click();
  await login.getByRole("link", { name: "Allow" }).click();
  await login.getByRole("heading", { name: "You are signed in to Linear." }).waitFor();
  await page.getByText("Connected", { exact: false }).first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Sign in" }).count(), 0);
  assert.deepEqual(browser.faults, [], "the console shows no errors");
});
