// A server built with version 1 of the TypeScript SDK, which only supports sessions: `server_sdk_v1.mjs LEDGER PORT`. See
// README.md.

import { randomUUID } from "node:crypto";
import { createServer } from "node:http";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { completable } from "@modelcontextprotocol/sdk/server/completable.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import {
  CreateMessageResultSchema,
  ElicitResultSchema,
  ListRootsResultSchema,
  SubscribeRequestSchema,
  UnsubscribeRequestSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

import { FORM, NAMES, NOTE, QUESTION, release, says, serve, untilCancelled, writeDown } from "./shared.mjs";

const sessions = new Map();

function makeServer() {
  const capabilities = { logging: {}, completions: {}, resources: { subscribe: true } };
  const server = new McpServer({ name: "repertoire", version: "1" }, { capabilities });
  const add = (name, run) => server.registerTool(name, { description: name, inputSchema: { nonce: z.string() } }, run);
  const progress = ({ _meta, sendNotification }, step) =>
    sendNotification({ method: "notifications/progress", params: { progressToken: _meta.progressToken, progress: step } });

  add("echo", ({ nonce }) => (writeDown(nonce), says(nonce)));
  add("steps", async ({ nonce }, extra) => {
    for (const step of [1, 2, 3]) await progress(extra, step);
    await release(nonce).promise;
    return says("stepped");
  });
  add("release", ({ nonce }) => (release(nonce).resolve(), says("released")));
  add("wait", async ({ nonce }, extra) => {
    await progress(extra, 1);
    await untilCancelled(extra.signal, nonce);
    return says(nonce);
  });
  add("log", async ({ nonce }, { sendNotification }) => {
    await sendNotification({ method: "notifications/message", params: { level: "info", data: nonce } });
    return says("logged");
  });
  add("sample", async (_, { sendRequest }) => {
    const answer = await sendRequest({ method: "sampling/createMessage", params: QUESTION }, CreateMessageResultSchema);
    return says(answer.content.text);
  });
  add("ask", async (_, { sendRequest }) => {
    const answer = await sendRequest({ method: "elicitation/create", params: FORM }, ElicitResultSchema);
    return says(answer.content.name);
  });
  add("roots", async (_, { sendRequest }) => {
    const { roots } = await sendRequest({ method: "roots/list" }, ListRootsResultSchema);
    return says(roots[0].uri);
  });
  add("touch", async () => {
    await Promise.all([...sessions.values()].map(({ server }) => server.server.sendResourceUpdated({ uri: NOTE })));
    return says("touched");
  });

  server.registerResource("note", NOTE, {}, () => ({ contents: [{ uri: NOTE, text: "a note" }] }));
  server.server.setRequestHandler(SubscribeRequestSchema, () => ({}));
  server.server.setRequestHandler(UnsubscribeRequestSchema, () => ({}));
  const argsSchema = { name: completable(z.string(), (begun) => NAMES.filter((name) => name.startsWith(begun))) };
  server.registerPrompt("greet", { argsSchema }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello, ${name}!` } }],
  }));
  return server;
}

async function open() {
  const server = makeServer();
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (id) => sessions.set(id, { server, transport }),
    onsessionclosed: (id) => sessions.delete(id),
  });
  await server.connect(transport);
  return transport;
}

serve(
  createServer(async (request, response) => {
    const id = request.headers["mcp-session-id"];
    if (id !== undefined && !sessions.has(id)) return response.writeHead(404).end();
    const transport = id === undefined ? await open() : sessions.get(id).transport;
    await transport.handleRequest(request, response);
  }),
);
