// The authorization server: registration, refresh tokens that are used once, device flow, revocation.

import Provider from "oidc-provider";

const SCOPE = "mcp:use mcp:write";

export function authorizationServer(world) {
  const { options } = world;
  const provider = new Provider(world.issuer, {
    clients: options.clients ?? [],
    scopes: ["openid", "offline_access", ...SCOPE.split(" ")],
    claims: { openid: ["sub"], email: ["email"] },
    // Otherwise an identity token has only the subject.
    conformIdTokenClaims: !options.namesAccounts,
    responseTypes: ["code"],
    // A refresh token is replaced each time; using an old one again ends the grant.
    rotateRefreshToken: true,
    issueRefreshToken: async () => options.refreshTokens ?? true,
    features: {
      devInteractions: { enabled: false },
      registration: { enabled: options.registration ?? true },
      revocation: { enabled: true },
      clientCredentials: { enabled: true },
      deviceFlow: { enabled: options.codes ?? true },
      resourceIndicators: {
        enabled: true,
        defaultResource: () => world.resource,
        useGrantedResource: () => true,
        getResourceServerInfo: () => ({
          scope: SCOPE,
          accessTokenFormat: "opaque",
          accessTokenTTL: options.lifetime ?? 3600,
        }),
      },
    },
    ttl: {
      Interaction: 600,
      Session: 600,
      Grant: 86400,
      RefreshToken: 86400,
      AuthorizationCode: 60,
      DeviceCode: options.codeLifetime ?? 600,
    },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.com` }),
    }),
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    cookies: { keys: ["not a secret"] },
  });
  provider.on("grant.success", (context) => {
    const kind = context.oidc.params.grant_type;
    world.issued[kind] = (world.issued[kind] ?? 0) + 1;
    const { code, code_verifier, client_secret } = context.oidc.params;
    const { access_token, refresh_token, id_token } = context.body;
    world.secrets.push(...[code, code_verifier, client_secret, access_token, refresh_token, id_token].filter(Boolean));
  });
  provider.on("grant.error", (_context, error) => world.refused.push(error.error));
  provider.on("registration_create.success", (_context, client) => {
    world.registrations += 1;
    if (client.clientSecret) world.secrets.push(client.clientSecret);
  });
  provider.use(async (context, next) => {
    await next();
    if (context.path !== "/device/auth" || !context.body?.device_code) return;
    world.secrets.push(context.body.device_code);
    context.body.interval = 1;
  });
  const callback = provider.callback();
  const handler = async (request, response) => {
    const { pathname: path, searchParams: query } = new URL(request.url, world.issuer);
    if (path === "/auth" && query.has("client_id")) world.asked.push(query.get("scope") ?? "");
    if (path === "/token") world.tokenRequests.push(Date.now());
    if (path === "/token" && world.tokenEndpoint === "silent") return;
    if (path === "/token" && world.tokenEndpoint === "held") {
      world.held += 1;
      await new Promise((released) => (world.release = released));
    }
    if (path === "/token" && world.tokenEndpoint === "slow down") {
      world.tokenEndpoint = "works";
      response.writeHead(400, { "content-type": "application/json" }).end('{"error":"slow_down"}');
      return;
    }
    if (path === "/token" && world.tokenEndpoint === "broken") {
      response.writeHead(503).end("busy");
      return;
    }
    if (path === "/token" && world.tokenEndpoint === "lost") {
      // The tokens are issued, and nobody learns them.
      response.write = () => true;
      response.end = () => response;
    }
    if (path.startsWith("/interaction/")) {
      await interaction(provider, world, request, response);
      return;
    }
    callback(request, response);
  };
  return { provider, handler };
}

/** The page on which a person decides. */
async function interaction(provider, world, request, response) {
  const action = new URL(request.url, world.issuer).searchParams.get("action");
  const decided = world.person === "ask" ? action : world.person;
  if (!decided) {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<!doctype html><title>Sign in</title><h1>Evermoor wants access</h1>
      <a href="?action=allow">Allow</a> <a href="?action=decline">Decline</a>`);
    return;
  }
  if (decided === "decline") {
    const error = { error: "access_denied", error_description: "The person said no." };
    await provider.interactionFinished(request, response, error);
    return;
  }
  const details = await provider.interactionDetails(request, response);
  if (details.prompt.name === "login") {
    const result = { login: { accountId: "alice" } };
    await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
    return;
  }
  const grant = details.grantId
    ? await provider.Grant.find(details.grantId)
    : new provider.Grant({ accountId: details.session.accountId, clientId: details.params.client_id });
  const missing = details.prompt.details;
  if (missing.missingOIDCScope) grant.addOIDCScope(missing.missingOIDCScope.join(" "));
  if (missing.missingOIDCClaims) grant.addOIDCClaims(missing.missingOIDCClaims);
  for (const [resource, scopes] of Object.entries(missing.missingResourceScopes ?? {})) {
    const withheld = scopes.filter((scope) => scope === world.options.withhold);
    grant.addResourceScope(resource, scopes.filter((scope) => !withheld.includes(scope)).join(" "));
    if (withheld.length > 0) grant.rejectResourceScope(resource, withheld.join(" "));
  }
  const consent = { grantId: await grant.save() };
  await provider.interactionFinished(request, response, { consent }, { mergeWithLastSubmission: true });
}
