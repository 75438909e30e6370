// An editor built with the TypeScript SDK. It runs the whole repertoire and prints the results as one line of JSON. See
// README.md.
//
//   editor.mjs GENERATION NONCE http URL TOKEN
//   editor.mjs GENERATION NONCE stdio PROGRAM ARGUMENT...

import { NOTE } from "./shared.mjs";

const ANSWERS = {
  "sampling/createMessage": { role: "assistant", model: "m", content: { type: "text", text: "Something." } },
  "elicitation/create": { action: "accept", content: { name: "Ada" } },
  "roots/list": { roots: [{ uri: "file:///here" }] },
};

/** The differences between the generations. */
const generations = {
  async 1() {
    const types = await import("@modelcontextprotocol/sdk/types.js");
    const asked = {
      "sampling/createMessage": types.CreateMessageRequestSchema,
      "elicitation/create": types.ElicitRequestSchema,
      "roots/list": types.ListRootsRequestSchema,
    };
    const told = {
      "notifications/message": types.LoggingMessageNotificationSchema,
      "notifications/resources/updated": types.ResourceUpdatedNotificationSchema,
    };
    return {
      ...(await import("@modelcontextprotocol/sdk/client/index.js")),
      ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
      ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
      options: {},
      answer: (client, method) => client.setRequestHandler(asked[method], () => ANSWERS[method]),
      hear: (client, method, run) => client.setNotificationHandler(told[method], run),
      call: (client, params, options) => client.callTool(params, undefined, options),
      follow: (client) => client.subscribeResource({ uri: NOTE }),
      async log(client, params) {
        await client.setLoggingLevel("info");
        return client.callTool(params);
      },
    };
  },
  async 2() {
    return {
      ...(await import("@modelcontextprotocol/client")),
      ...(await import("@modelcontextprotocol/client/stdio")),
      options: { versionNegotiation: { mode: "auto" } },
      answer: (client, method) => client.setRequestHandler(method, () => ANSWERS[method]),
      hear: (client, method, run) => client.setNotificationHandler(method, run),
      call: (client, params, options) => client.callTool(params, options),
      follow: (client) => client.listen({ resourceSubscriptions: [NOTE] }),
      log: (client, params) => client.callTool({ ...params, _meta: { "io.modelcontextprotocol/logLevel": "info" } }),
    };
  },
};

const [generation, nonce, wire, place, ...rest] = process.argv.slice(2);
const sdk = await generations[generation]();
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };
const client = new sdk.Client({ name: "repertoire", version: "1" }, { capabilities, ...sdk.options });
for (const method of Object.keys(ANSWERS)) sdk.answer(client, method);

const transports = {
  http: ([token]) =>
    new sdk.StreamableHTTPClientTransport(new URL(place), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
  stdio: (args) => new sdk.StdioClientTransport({ command: place, args }),
};
await client.connect(transports[wire](rest));

const params = (name, words = nonce) => ({ name, arguments: { nonce: words } });
const call = async (name, options) => (await sdk.call(client, params(name), options)).content[0].text;

/** The first notification of a kind. */
const first = (method) => new Promise((heard) => sdk.hear(client, method, ({ params }) => heard(params)));

const seen = {};
seen.tools = (await client.listTools()).tools.map(({ name }) => name).sort();
seen.prompts = (await client.listPrompts()).prompts.map(({ name }) => name);
seen.resources = (await client.listResources()).resources.map(({ uri }) => uri);
seen.read = (await client.readResource({ uri: NOTE })).contents[0].text;
seen.prompt = (await client.getPrompt({ name: "greet", arguments: { name: "Ada" } })).messages[0].content.text;
const ref = { type: "ref/prompt", name: "greet" };
seen.completed = (await client.complete({ ref, argument: { name: "name", value: "A" } })).completion.values;
seen.called = await call("echo");
// The SDK may deliver progress after the answer that follows it, so the call is released only once all progress arrived.
seen.progress = [];
let released;
const hear = ({ progress }) => {
  if (seen.progress.push(progress) === 3) released = call("release");
};
await call("steps", { onprogress: hear });
await released;

// In a session, only a server that declares logging accepts a level.
if (generation === "2" || client.getServerCapabilities().logging) {
  const told = first("notifications/message");
  await sdk.log(client, params("log", "told"));
  seen.logged = (await told).data;
}

const updated = first("notifications/resources/updated");
await sdk.follow(client);
await call("touch");
seen.updated = (await updated).uri;

const cancelling = new AbortController();
const ended = call("wait", { signal: cancelling.signal, onprogress: () => cancelling.abort() });
seen.cancelled = await ended.then(() => false, () => true);

seen.sampled = await call("sample");
seen.asked = await call("ask");
seen.roots = await call("roots");

console.log(JSON.stringify(seen));
await client.close();
process.exit(0);
