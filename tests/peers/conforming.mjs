// An editor that performs the conformance suite's client scenarios: `conforming.mjs URL`.
//
// With EVERMOOR, the path of the binary, and EVERMOOR_HOME, it connects through a gateway, which it starts in that home.

import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

const { EVERMOOR, EVERMOOR_HOME, MCP_CONFORMANCE_SCENARIO: scenario, MCP_CONFORMANCE_CONTEXT: context = "{}" } = process.env;
const server = process.argv.at(-1);

/** Starts a gateway in front of the suite's server. */
async function startGateway() {
  mkdirSync(EVERMOOR_HOME, { recursive: true });
  const config = `[gateway]\nlisten = "127.0.0.1:0"\nrequire_token = false\n\n[upstreams.suite]\nurl = "${server}"\n`;
  writeFileSync(`${EVERMOOR_HOME}/config.toml`, config);
  const gateway = spawn(EVERMOOR, ["serve", "--home", EVERMOOR_HOME], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: gateway.stdout })) if (line.includes("Try it")) break;
  const { origin } = JSON.parse(readFileSync(`${EVERMOOR_HOME}/run/gateway.json`, "utf8"));
  return { url: `${origin}/mcp/suite`, end: () => gateway.kill() };
}

/** Values that satisfy a form's schema. */
const filled = (schema) =>
  Object.fromEntries(Object.entries(schema?.properties ?? {}).map(([key, { type }]) => [key, { boolean: true, string: "x" }[type] ?? 1]));

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

/** Errors are ignored here, because the suite judges them. */
const attempt = (asked) => asked.catch((error) => console.error(`${scenario}: ${error}`));

async function look(client) {
  const { tools } = await client.listTools();
  await Promise.all(calls(tools).map((call) => attempt(client.callTool(call))));
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
await attempt(client.connect(new StreamableHTTPClientTransport(new URL(gateway?.url ?? server))).then(() => look(client)));
await client.close();
gateway?.end();
process.exit(0);
