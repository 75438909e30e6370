// A server built with version 2 of the TypeScript SDK, limited to stateless requests: `server_sdk_v2.mjs LEDGER PORT`. See
// README.md.

import { createServer } from "node:http";

import { toNodeHandler } from "@modelcontextprotocol/node";
import { McpServer, completable, createMcpHandler, fromJsonSchema, inputRequired, inputResponse } from "@modelcontextprotocol/server";
import { z } from "zod";

import { FORM, NAMES, NOTE, QUESTION, release, says, serve, untilCancelled, writeDown } from "./shared.mjs";

function makeServer() {
  const capabilities = { logging: {}, completions: {}, resources: { subscribe: true } };
  const server = new McpServer({ name: "repertoire", version: "1" }, { capabilities });
  const inputSchema = fromJsonSchema({ type: "object", properties: { nonce: { type: "string" } } });
  const add = (name, run) => server.registerTool(name, { description: name, inputSchema }, run);
  const progress = ({ mcpReq }, step) =>
    mcpReq.notify({ method: "notifications/progress", params: { progressToken: mcpReq._meta.progressToken, progress: step } });

  add("echo", ({ nonce }) => (writeDown(nonce), says(nonce)));
  add("steps", async ({ nonce }, context) => {
    for (const step of [1, 2, 3]) await progress(context, step);
    await release(nonce).promise;
    return says("stepped");
  });
  add("release", ({ nonce }) => (release(nonce).resolve(), says("released")));
  add("wait", async ({ nonce }, context) => {
    await progress(context, 1);
    await untilCancelled(context.mcpReq.signal, nonce);
    return says(nonce);
  });
  add("log", async ({ nonce }, { mcpReq }) => {
    await mcpReq.log("info", nonce);
    return says("logged");
  });
  const asks = (name, question, words) =>
    add(name, (_, { mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "answer");
      return answer.kind === "missing" ? inputRequired({ inputRequests: { answer: question } }) : says(words(answer));
    });
  asks("sample", inputRequired.createMessage(QUESTION), ({ result }) => result.content.text);
  asks("ask", inputRequired.elicit(FORM), ({ content }) => content.name);
  asks("roots", inputRequired.listRoots(), ({ roots }) => roots[0].uri);
  add("touch", () => {
    handler.notify.resourceUpdated(NOTE);
    return says("touched");
  });

  server.registerResource("note", NOTE, {}, () => ({ contents: [{ uri: NOTE, text: "a note" }] }));
  const argsSchema = z.object({ name: completable(z.string(), (begun) => NAMES.filter((name) => name.startsWith(begun))) });
  server.registerPrompt("greet", { argsSchema }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Hello, ${name}!` } }],
  }));
  return server;
}

const handler = createMcpHandler(makeServer, { legacy: "reject" });
serve(createServer(toNodeHandler(handler)));
