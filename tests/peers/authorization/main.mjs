// An authorization server (oidc-provider) and an MCP server that accepts its tokens, in one process.
//
// Prints one line of JSON with the addresses of both. `POST /control` of the MCP server changes what
// happens next, and tells what has happened.

import { createServer } from "node:http";

import { authorizationServer } from "./authorization_server.mjs";
import { resourceServer } from "./resource_server.mjs";

const options = JSON.parse(process.argv[2] ?? "{}");

/** What has happened, and what is to happen. */
const world = {
  options,
  /** How often tokens were issued, by grant type. */
  issued: {},
  /** The scopes of each authorization request. */
  asked: [],
  /** Every code, code verifier, token and client secret that there was. */
  secrets: [],
  /** The error codes of refused token requests. */
  refused: [],
  /** When the token endpoint was asked, in milliseconds. */
  tokenRequests: [],
  registrations: 0,
  /** Requests with a token that was not accepted. */
  unauthorized: 0,
  /** How often each nonce was recorded. */
  executions: {},
  /** The access tokens that are accepted no longer. */
  expired: new Set(),
  /** How the token endpoint answers: as it should, not at all, with an error, so that the answer is lost, once that it is
   * asked too often, or held until this changes. */
  tokenEndpoint: "works",
  /** How many token requests were held. */
  held: 0,
  release: () => {},
  /** What the person does: "allow" or "decline" at once, or "ask" shows a page with both buttons. */
  person: options.person ?? "allow",
};

const [issuer, resource] = await Promise.all([listening(), listening()]);
world.issuer = issuer.origin;
world.resource = `${resource.origin}/mcp`;
const provider = authorizationServer(world);
issuer.handler = provider.handler;
resource.handler = resourceServer(world, provider);
console.log(JSON.stringify({ issuer: world.issuer, resource: world.resource }));

/** A server on a free port, whose handler is set later. */
async function listening() {
  const held = { handler: undefined, origin: "" };
  const server = createServer((request, response) => held.handler(request, response));
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  held.origin = `http://127.0.0.1:${server.address().port}`;
  return held;
}
