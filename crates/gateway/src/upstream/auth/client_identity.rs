//! As which client Evermoor signs in: the one that the user configured, the one that a document
//! describes, or one that it registers.

use http::{Method, header};
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, AuthorizationMetadata, AuthorizationRequest,
    ClientRegistrationResponse, OAuthClientConfig,
};
use serde_json::json;

use evermoor_core::failure::Failure;
use evermoor_core::security::redaction::known::Secret;

use super::oauth_http::{self, OAuthHttp};
use super::{ProtectedServer, failures};
use crate::config::secrets::Secrets;
use crate::system::redaction;

/// A client of an authorization server.
pub(super) struct ClientIdentity {
    pub(super) id: String,
    pub(super) secret: Option<String>,
}

/// The name under which Evermoor registers.
const CLIENT_NAME: &str = "Evermoor";
/// The grant type of a sign-in with a code (RFC 8628).
const DEVICE_CODE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// The client that the user configured, with its secret.
pub(super) async fn configured(
    server: &ProtectedServer,
    secrets: &Secrets,
) -> Result<Option<ClientIdentity>, Failure> {
    let Some(client) = &server.oauth.client else { return Ok(None) };
    let secret = match &client.secret {
        Some(template) => {
            let needed: Vec<_> = template.references().cloned().collect();
            let found = secrets.find(&needed).await?;
            Some(template.fill(|reference| found.value(reference))?.reveal().to_owned())
        }
        None => None,
    };
    Ok(Some(ClientIdentity { id: client.id.clone(), secret }))
}

/// The client for a new sign-in in a browser. A client is registered anew each time, because the
/// redirect address may have changed, and because the authorization server may have forgotten an old one.
pub(super) async fn for_sign_in(
    manager: &mut AuthorizationManager,
    metadata: &AuthorizationMetadata,
    server: &ProtectedServer,
    secrets: &Secrets,
    redirect: &str,
) -> Result<ClientIdentity, Failure> {
    if let Some(known) = known(metadata, server, secrets).await? {
        return Ok(known);
    }
    if metadata.registration_endpoint.is_none() {
        return Err(failures::no_registration(server));
    }
    let scopes = scopes(manager, server).await;
    let scopes: Vec<&str> = scopes.iter().map(String::as_str).collect();
    match manager.register_client(CLIENT_NAME, redirect, &scopes).await {
        Ok(registered) => {
            if let Some(secret) = &registered.client_secret {
                redaction::hide(&Secret::new(secret.clone()));
            }
            Ok(ClientIdentity { id: registered.client_id, secret: registered.client_secret })
        }
        Err(AuthError::RegistrationFailed(why)) if why.starts_with("HTTP 4") => {
            tracing::info!(upstream = %server.name, "the registration was refused");
            Err(failures::no_registration(server))
        }
        Err(error) => Err(failures::sign_in_failed(server, &error)),
    }
}

/// The client for a new sign-in with a code. rmcp registers only clients with a redirect address, which
/// may not use codes.
pub(super) async fn for_code(
    metadata: &AuthorizationMetadata,
    server: &ProtectedServer,
    scopes: &[String],
    secrets: &Secrets,
    http: &OAuthHttp,
) -> Result<ClientIdentity, Failure> {
    if let Some(known) = known(metadata, server, secrets).await? {
        return Ok(known);
    }
    let place = metadata.registration_endpoint.as_deref().and_then(oauth_http::private_address);
    let place = place.ok_or_else(|| failures::no_registration(server))?;
    let client = json!({
        "client_name": CLIENT_NAME,
        "application_type": "native",
        "grant_types": [DEVICE_CODE_GRANT, "refresh_token"],
        "response_types": [],
        "redirect_uris": [],
        "token_endpoint_auth_method": "none",
        "scope": scopes.join(" "),
    });
    let request = http::Request::builder()
        .method(Method::POST)
        .uri(place.as_str())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json")
        .body(client.to_string().into_bytes());
    let failed =
        |why: String| failures::sign_in_failed(server, &AuthError::RegistrationFailed(why));
    let request = request.map_err(|error| failed(error.to_string()))?;
    let answer = http.post(request).await.map_err(|error| failed(error.to_string()))?;
    if answer.status().is_client_error() {
        tracing::info!(upstream = %server.name, "the registration for codes was refused");
        return Err(failures::no_registration(server));
    }
    let registered: ClientRegistrationResponse = serde_json::from_slice(answer.body())
        .map_err(|_| failed(format!("HTTP {}", answer.status())))?;
    // An empty secret means that there is none.
    let secret = registered.client_secret.filter(|secret| !secret.is_empty());
    if let Some(secret) = &secret {
        redaction::hide(&Secret::new(secret.clone()));
    }
    Ok(ClientIdentity { id: registered.client_id, secret })
}

/// The client that needs no registration: the configured one, or the one that a document describes.
async fn known(
    metadata: &AuthorizationMetadata,
    server: &ProtectedServer,
    secrets: &Secrets,
) -> Result<Option<ClientIdentity>, Failure> {
    if let Some(configured) = configured(server, secrets).await? {
        return Ok(Some(configured));
    }
    let accepts_documents = metadata.additional_fields.get("client_id_metadata_document_supported");
    let accepts_documents = accepts_documents.and_then(serde_json::Value::as_bool) == Some(true);
    let document = server.oauth.client_metadata_url.as_ref().filter(|_| accepts_documents);
    Ok(document.map(|document| ClientIdentity { id: document.to_string(), secret: None }))
}

/// The scopes to ask for.
pub(super) async fn scopes(
    manager: &AuthorizationManager,
    server: &ProtectedServer,
) -> Vec<String> {
    match server.oauth.scopes.as_slice() {
        [] => manager.select_initial_scopes(&[]).await,
        configured => configured.to_vec(),
    }
}

/// What is asked of the authorization server.
pub(super) fn request(
    client: &ClientIdentity,
    scopes: &[String],
    redirect: &str,
) -> AuthorizationRequest {
    let request = AuthorizationRequest::new(redirect)
        .with_preregistered_client(client.id.clone())
        .with_scopes(scopes.to_vec())
        .with_initial_scope_selection();
    match &client.secret {
        Some(secret) => request.with_client_secret(secret.clone()),
        None => request,
    }
}

/// The client as rmcp wants it for a renewal.
pub(super) fn config(client: ClientIdentity, redirect: &str) -> OAuthClientConfig {
    let config = OAuthClientConfig::new(client.id, redirect);
    match client.secret {
        Some(secret) => config.with_client_secret(secret),
        None => config,
    }
}
