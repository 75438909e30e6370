//! Tells the authorization server that a grant has ended (RFC 7009).

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use http::{Method, header};
use oauth2::TokenResponse as _;
use url::Url;
use url::form_urlencoded::{Serializer, byte_serialize};

use super::oauth_http::OAuthHttp;
use super::stored_grant::StoredGrant;
use super::{ProtectedServer, authorization_server, client_identity};
use crate::config::secrets::Secrets;

/// Returns whether the server confirms that the tokens no longer work.
pub(super) async fn revoke(
    server: &ProtectedServer,
    grant: &StoredGrant,
    secrets: &Secrets,
) -> bool {
    let http = Arc::new(OAuthHttp::new(&server.reach));
    let Ok((_, metadata)) = authorization_server::prepare(server, Arc::clone(&http)).await else {
        return false;
    };
    let place = metadata.additional_fields.get("revocation_endpoint").and_then(|url| url.as_str());
    let place = place.and_then(|url| Url::parse(url).ok());
    // The tokens go only to the server that issued them.
    let (Some(place), true) = (place, metadata.issuer == grant.credentials.issuer) else {
        return false;
    };
    let Some(tokens) = grant.tokens() else { return false };
    let (token, kind) = match tokens.refresh_token() {
        Some(refresh) => (refresh.secret(), "refresh_token"),
        None => (tokens.access_token().secret(), "access_token"),
    };
    let configured = client_identity::configured(server, secrets).await.ok().flatten();
    let secret = configured.and_then(|client| client.secret).or(grant.client_secret.clone());
    let client = grant.credentials.client_id.as_str();
    let Some(request) = request(&place, token, kind, client, secret.as_deref()) else {
        return false;
    };
    http.post(request).await.is_ok_and(|answer| answer.status().is_success())
}

fn request(
    place: &Url,
    token: &str,
    kind: &str,
    client: &str,
    secret: Option<&str>,
) -> Option<http::Request<Vec<u8>>> {
    let mut form = Serializer::new(String::new());
    form.append_pair("token", token).append_pair("token_type_hint", kind);
    let mut request = http::Request::builder().method(Method::POST).uri(place.as_str());
    match secret {
        Some(secret) => {
            let encoded = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
            let pair = format!("{}:{}", encoded(client), encoded(secret));
            let value = format!("Basic {}", BASE64.encode(pair));
            request = request.header(header::AUTHORIZATION, value);
        }
        None => {
            form.append_pair("client_id", client);
        }
    }
    let request = request.header(header::CONTENT_TYPE, "application/x-www-form-urlencoded");
    request.body(form.finish().into_bytes()).ok()
}
