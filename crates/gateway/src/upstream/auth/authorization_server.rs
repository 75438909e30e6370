//! Finds the authorization server of a server, and prepares rmcp's client for it.

use std::sync::Arc;

use http::{Method, StatusCode, header};
use rmcp::transport::auth::{AuthError, AuthorizationManager, AuthorizationMetadata};
use url::Url;

use evermoor_core::failure::Failure;
use evermoor_core::protocol::envelope::{Id, Request};
use evermoor_core::protocol::mcp::method;

use super::oauth_http::OAuthHttp;
use super::{ProtectedServer, failures};

/// Why there is no client.
pub(super) enum Unprepared {
    /// It is worth trying again.
    Unavailable(AuthError),
    /// The user must do something first.
    Refused(Failure),
}

impl From<AuthError> for Unprepared {
    fn from(error: AuthError) -> Self {
        Self::Unavailable(error)
    }
}

/// A client that knows the authorization server of `server`, and what that server says about itself.
pub(super) async fn prepare(
    server: &ProtectedServer,
    http: Arc<OAuthHttp>,
) -> Result<(AuthorizationManager, AuthorizationMetadata), Unprepared> {
    let client = |url: Url| {
        let http = Arc::clone(&http);
        AuthorizationManager::new_with_oauth_http_client(url, http)
    };
    let mut manager = client(server.url.clone()).await?;
    // This also finds out the resource, so it is needed even if the authorization server is known.
    let challenge = challenge(server, &http).await;
    let found = manager.resolve_metadata_from_challenge(challenge.as_deref()).await;
    let metadata = match (&server.oauth.authorization_server, found) {
        (None, found) => found?.metadata,
        (Some(expected), Ok(found)) if is_issuer(&found.metadata, expected) => found.metadata,
        (Some(expected), _) => {
            let named = client(expected.clone()).await?.resolve_metadata().await?;
            if !named.source.is_discovered() || !is_issuer(&named.metadata, expected) {
                return Err(Unprepared::Refused(failures::wrong_authorization_server(
                    server, expected,
                )));
            }
            named.metadata
        }
    };
    manager.set_metadata(metadata.clone());
    Ok((manager, metadata))
}

/// What the server says to a message without a token: where it describes itself, and which scopes it
/// wants. rmcp asks with GET, to which not every server answers so.
async fn challenge(server: &ProtectedServer, http: &OAuthHttp) -> Option<String> {
    let message = Request::new(Id::number(0), method::PING, None).to_bytes();
    let request = http::Request::builder()
        .method(Method::POST)
        .uri(server.url.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream")
        .body(message.to_vec())
        .ok()?;
    let answer = http.post(request).await.ok()?;
    if answer.status() != StatusCode::UNAUTHORIZED {
        return None;
    }
    let values = answer.headers().get_all(header::WWW_AUTHENTICATE).iter();
    let challenges: Vec<&str> = values.filter_map(|value| value.to_str().ok()).collect();
    let described = challenges.iter().find(|value| value.contains("resource_metadata"));
    described.or(challenges.first()).map(|&value| value.to_owned())
}

fn is_issuer(metadata: &AuthorizationMetadata, expected: &Url) -> bool {
    let issuer = metadata.issuer.as_deref().and_then(|issuer| Url::parse(issuer).ok());
    issuer.is_some_and(|issuer| issuer == *expected)
}
