// The MCP server, on the TypeScript SDK. It accepts the tokens of the authorization server.

import { randomUUID } from "node:crypto";

import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";

const METADATA = "/.well-known/oauth-protected-resource/mcp";

export function resourceServer(world, { provider }) {
  const sessions = new Map();
  return async (request, response) => {
    const path = new URL(request.url, world.resource).pathname;
    if (path === METADATA) {
      reply(response, 200, {
        resource: world.resource,
        authorization_servers: [world.issuer],
        scopes_supported: ["mcp:use"],
      });
      return;
    }
    if (path === "/control") {
      reply(response, 200, await control(world, provider, await body(request)));
      return;
    }
    if (path !== "/mcp") {
      response.writeHead(404).end();
      return;
    }
    if (!(await isPermitted(world, provider, request))) {
      // Evermoor also asks without a token, to learn where the server describes itself.
      if (request.headers.authorization) world.unauthorized += 1;
      const metadata = new URL(METADATA, world.resource).href;
      const challenge = `Bearer error="invalid_token", resource_metadata="${metadata}"`;
      response.writeHead(401, { "www-authenticate": challenge }).end();
      return;
    }
    const message = request.method === "POST" ? await body(request) : undefined;
    if (message?.params?.name === "write" && !(await hasScope(provider, request, "mcp:write"))) {
      const challenge = 'Bearer error="insufficient_scope", scope="mcp:write"';
      response.writeHead(403, { "www-authenticate": challenge }).end();
      return;
    }
    await mcp(world, sessions, request, response, message);
  };
}

async function hasScope(provider, request, scope) {
  const value = request.headers.authorization.split(" ")[1];
  const token = await provider.AccessToken.find(value) ?? await provider.ClientCredentials.find(value);
  return (token.scope ?? "").split(" ").includes(scope);
}

async function isPermitted(world, provider, request) {
  const [scheme, value] = (request.headers.authorization ?? "").split(" ");
  if (scheme !== "Bearer" || !value || world.expired.has(value)) return false;
  const token = await provider.AccessToken.find(value) ?? await provider.ClientCredentials.find(value);
  if (token) world.lastToken = value;
  return Boolean(token && !token.isExpired && token.aud === world.resource);
}

async function mcp(world, sessions, request, response, message) {
  const known = sessions.get(request.headers["mcp-session-id"]);
  if (known) {
    await known.handleRequest(request, response, message);
    return;
  }
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => sessions.set(id, transport),
  });
  const server = new McpServer({ name: "protected", version: "1.0.0" });
  const record = async ({ nonce }) => {
    world.executions[nonce] = (world.executions[nonce] ?? 0) + 1;
    return { content: [{ type: "text", text: nonce }] };
  };
  server.tool("record", { nonce: z.string() }, record);
  // Needs the scope `mcp:write`.
  server.tool("write", { nonce: z.string() }, record);
  await server.connect(transport);
  await transport.handleRequest(request, response, message);
}

/** Does what a test wants, and tells what has happened. */
async function control(world, provider, asked) {
  if (asked.expire) world.expired.add(world.lastToken);
  if (asked.tokenEndpoint) {
    world.tokenEndpoint = asked.tokenEndpoint;
    world.release();
  }
  if (asked.person) world.person = asked.person;
  if (asked.endGrant) {
    const token = await provider.AccessToken.find(world.lastToken);
    world.expired.add(world.lastToken);
    await provider.Grant.adapter.destroy(token.grantId);
    await provider.RefreshToken.revokeByGrantId(token.grantId);
  }
  const { issued, asked: scopes, refused, held, registrations, unauthorized, executions, secrets, tokenRequests } = world;
  return { issued, asked: scopes, refused, held, registrations, unauthorized, executions, secrets, tokenRequests };
}

async function body(request) {
  let text = "";
  for await (const chunk of request) text += chunk;
  return JSON.parse(text || "{}");
}

function reply(response, status, value) {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(value));
}
