// An editor that performs the conformance suite's client scenarios: `conforming.mjs URL`.
//
// With EVERMOOR, the path of the binary, and EVERMOOR_HOME, it connects through a gateway, which it starts in that home.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { get } from "node:http";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const { EVERMOOR, EVERMOOR_HOME, MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const server = process.argv.at(-1);

const signsIn = (scenario ?? "").startsWith("auth/");
/** The suite has no such document; it only compares the address. */
const METADATA_DOCUMENT = "https://conformance-test.local/client-metadata.json";

/** Starts a gateway in front of the suite's server, and signs in if the scenario is about that. */
async function startGateway() {
  mkdirSync(EVERMOOR_HOME, { recursive: true });
  const gatewayTable = `[gateway]\nlisten = "127.0.0.1:0"\nrequire_token = false\nsign_ins_file = "${EVERMOOR_HOME}/sign-ins.json"\n`;
  const config = `${gatewayTable}\n[upstreams.suite]\nurl = "${server}"\n${signsIn ? oauth() : ""}`;
  writeFileSync(`${EVERMOOR_HOME}/config.toml`, config);
  const env = { ...process.env, SUITE_SECRET: secret() };
  const gateway = spawn(EVERMOOR, ["serve", "--home", EVERMOOR_HOME], { stdio: ["ignore", "pipe", "inherit"], env });
  for await (const line of createInterface({ input: gateway.stdout })) if (line.includes("Try it")) break;
  const runtime = JSON.parse(readFileSync(`${EVERMOOR_HOME}/run/gateway.json`, "utf8"));
  const wantsSignIn = signsIn && !scenario.includes("client-credentials");
  const ask = async (path) => {
    const headers = { authorization: `Bearer ${runtime.controlToken}` };
    return (await fetch(`${runtime.origin}/api/${path}`, { headers })).json();
  };
  const link = async () => (await ask("status")).upstreams[0].link;
  const isSignedOut = async () => (await link()).failure?.code === "auth_required";
  /** Signs in, and waits until the gateway has connected with the new token: an editor that asks earlier finds no tools. */
  const signInAndConnect = async () => {
    const before = await link();
    if (!(await signIn(runtime))) return;
    const isNew = (now) => (now.state === "connected" ? now.since !== before.since : now.failure && now.failure.what !== before.failure?.what);
    while (!isNew(await link())) await pause(20);
  };
  if (wantsSignIn) await attempt(signInAndConnect());
  return { url: `${runtime.origin}/mcp/suite`, end: () => gateway.kill(), wantsSignIn, isSignedOut, signIn: signInAndConnect };
}

/** What the client has, if it is one with a secret or a private key. */
function secret() {
  const { client_secret, private_key_pem } = JSON.parse(context);
  return client_secret ?? private_key_pem ?? "";
}

/** How the scenario wants the client to sign in. */
function oauth() {
  const { client_id } = JSON.parse(context);
  const lines = ['auth = "oauth"', "[upstreams.suite.oauth]"];
  if (client_id) lines.push(`client_id = "${client_id}"`);
  if (client_id && secret()) lines.push('client_secret = "${env:SUITE_SECRET}"');
  if (scenario.includes("client-credentials")) lines.push('grant = "client-credentials"');
  if (!client_id) lines.push(`client_metadata_url = "${METADATA_DOCUMENT}"`);
  return `${lines.join("\n")}\n`;
}

/** Plays the person: opens the page, and follows where it leads. Says whether the last page, which is the gateway's, is of a success. */
async function signIn({ origin, controlToken: token }) {
  const headers = { authorization: `Bearer ${token}` };
  const begun = await fetch(`${origin}/api/upstreams/suite/sign-in`, { method: "POST", headers });
  const answer = await begun.json();
  if (!answer.url) throw new Error(answer.error.what);
  let page = await open(answer.url);
  while (page.headers.location) page = await open(new URL(page.headers.location, page.url).href);
  return page.status === 200;
}

/** Opens a page as a browser does, which names no mode of `fetch`. */
const open = (url) =>
  new Promise((done, failed) => {
    get(url, (response) => {
      response.resume();
      done({ url, status: response.statusCode, headers: response.headers });
    }).on("error", failed);
  });

/** Values that satisfy a form's schema: the defaults where there are any, as a person who changes nothing would send. */
const filled = (schema) =>
  Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([key, { type, default: usual }]) => [key, usual ?? { boolean: true, string: "x" }[type] ?? 1]),
  );

function makeClient() {
  const client = new Client({ name: "evermoor-test", version: "1" }, { capabilities: { elicitation: {}, sampling: {}, roots: {} } });
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => ({ action: "accept", content: filled(params.requestedSchema) }));
  client.setRequestHandler(CreateMessageRequestSchema, () => ({ role: "assistant", model: "m", content: { type: "text", text: "x" } }));
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [] }));
  return client;
}

/** The calls that a scenario expects. */
function calls(tools) {
  const wanted = JSON.parse(context).toolCalls;
  if (wanted) return wanted;
  switch (scenario) {
    case "tools_call":
      return [{ name: "add_numbers", arguments: { a: 1, b: 2 } }];
    case "json-schema-2020-12-preservation": {
      const focal = tools.find(({ name }) => name === "json_schema_2020_12_tool");
      return tools.filter((tool) => tool !== focal).map(({ name }) => ({ name, arguments: { schema: focal.inputSchema } }));
    }
    default:
      return tools.map(({ name }) => ({ name, arguments: {} }));
  }
}

/** Whether a call was refused until a person signs in again. */
let needsSignIn = false;

/** Errors are ignored here, because the suite judges them. */
const attempt = (asked) => asked.catch((error) => console.error(`${scenario}: ${error}`));

async function look(client) {
  const { tools } = await client.listTools();
  const results = await Promise.all(calls(tools).map((call) => attempt(client.callTool(call))));
  needsSignIn = results.some((result) => /requires credentials/.test(result?.content?.[0]?.text ?? ""));
  const able = client.getServerCapabilities();
  if (able?.resources) {
    const { resources } = await client.listResources();
    await Promise.all(resources.map(({ uri }) => attempt(client.readResource({ uri }))));
  }
  if (able?.prompts) {
    const { prompts } = await client.listPrompts();
    await Promise.all(prompts.map(({ name }) => attempt(client.getPrompt({ name, arguments: {} }))));
  }
}

const gateway = EVERMOOR ? await startGateway() : undefined;
const client = makeClient();
const place = () => new StreamableHTTPClientTransport(new URL(gateway?.url ?? server));
await attempt(client.connect(place()).then(() => look(client)));
if (gateway?.wantsSignIn && (needsSignIn || (await gateway.isSignedOut()))) {
  // The person signs in once more, and the editor asks again.
  await attempt(gateway.signIn());
  await attempt(look(client));
}
await client.close();
gateway?.end();
process.exit(0);
