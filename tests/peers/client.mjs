// A client built with the TypeScript SDK. It lists the tools, calls one, follows the progress of another, and prints what
// it saw as one line of JSON.
//
//   client.mjs GENERATION http URL TOKEN
//   client.mjs GENERATION stdio PROGRAM ARGUMENT...
//
// The generations: 1, 2, and 2-auto, which first asks whether the server supports the newest protocol version.

const generations = {
  1: async () => ({
    ...(await import("@modelcontextprotocol/sdk/client/index.js")),
    ...(await import("@modelcontextprotocol/sdk/client/streamableHttp.js")),
    ...(await import("@modelcontextprotocol/sdk/client/stdio.js")),
    call: (client, params, options) => client.callTool(params, undefined, options),
  }),
  2: async () => ({
    ...(await import("@modelcontextprotocol/client")),
    ...(await import("@modelcontextprotocol/client/stdio")),
    call: (client, params, options) => client.callTool(params, options),
  }),
};

const [generation, wire, place, ...rest] = process.argv.slice(2);
const [number, mode] = generation.split("-");
const sdk = await generations[number]();

const transports = {
  http: ([token]) =>
    new sdk.StreamableHTTPClientTransport(new URL(place), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
  stdio: (args) => new sdk.StdioClientTransport({ command: place, args }),
};

const client = new sdk.Client({ name: "evermoor-test", version: "1" }, mode ? { versionNegotiation: { mode } } : {});
await client.connect(transports[wire](rest));
const { tools } = await client.listTools();
const recorded = await sdk.call(client, { name: "notes__record", arguments: { nonce: "third party" } });

// The call is released once all of its progress has arrived.
const progress = [];
let released;
const hear = (step) => {
  if (progress.push(step) === 3) released = sdk.call(client, { name: "notes__record", arguments: { nonce: `released ${wire}` } });
};
const steps = { name: "notes__steps", arguments: { nonce: wire } };
const stepped = await sdk.call(client, steps, { onprogress: (message) => hear(message.progress) });
await released;
await client.close();
const said = [recorded, stepped].map(({ content }) => content[0].text);
console.log(JSON.stringify({ tools: tools.map(({ name }) => name), said, progress }));
