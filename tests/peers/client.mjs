// `client.mjs URL TOKEN TOOL NONCE`: an MCP client made with the TypeScript SDK.
//
// It prints one line of JSON: the names of the tools it was offered, and the text its call came back with.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, token, tool, nonce] = process.argv.slice(2);
const client = new Client({ name: "typescript", version: "1" });
const requestInit = { headers: { Authorization: `Bearer ${token}` } };
await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
const { tools } = await client.listTools();
const result = await client.callTool({ name: tool, arguments: { nonce } });
console.log(JSON.stringify({ tools: tools.map(({ name }) => name), text: result.content[0].text }));
await client.close();
