//! Whose sign-in it is: the account that the authorization server names.
//!
//! It comes from the identity token, or else from the address for information about the user. Neither is
//! verified, and nothing depends on it: the account is only shown, so that a user with several accounts
//! sees which one is signed in.

use std::sync::Arc;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::HeaderValue;
use oauth2::TokenResponse as _;
use rmcp::transport::auth::{AuthorizationMetadata, OAuthTokenResponse, StoredCredentials};
use serde_json::{Map, Value};
use tokio::time::timeout;
use url::Url;

use super::oauth_http::OAuthHttp;
use crate::system::redaction;

/// Where the account of a sign-in is found out.
pub(super) struct AccountSource {
    http: Arc<OAuthHttp>,
    /// The address for information about the user.
    address: Option<Url>,
}

type AccountClaims = Map<String, Value>;

/// What a user recognises an account by, the best first.
const NAMES: [&str; 3] = ["email", "preferred_username", "name"];
/// A sign-in does not wait longer for the name of its account.
const PATIENCE: Duration = Duration::from_secs(3);
/// More of a name is not shown.
const LONGEST_NAME: usize = 100;

impl AccountSource {
    pub(super) fn new(http: Arc<OAuthHttp>, metadata: &AuthorizationMetadata) -> Self {
        let named = metadata.additional_fields.get("userinfo_endpoint").and_then(Value::as_str);
        let address = named.and_then(|address| Url::parse(address).ok());
        let issuer = metadata.issuer.as_deref().and_then(|issuer| Url::parse(issuer).ok());
        // It gets the access token, so it must be the authorization server itself.
        let own = |address: &Url| issuer.is_some_and(|issuer| issuer.origin() == address.origin());
        Self { http, address: address.filter(own) }
    }

    /// The account of a sign-in, if the authorization server says so.
    pub(super) async fn of(&self, credentials: &StoredCredentials) -> Option<String> {
        let tokens = credentials.token_response.as_ref()?;
        let identity = identity(tokens);
        let found = identity.as_ref().and_then(|claims| name(claims, &NAMES));
        if found.is_some() {
            return found;
        }
        // Without this scope the answer is a refusal.
        let has_scope = credentials.granted_scopes.iter().any(|scope| scope == "openid");
        let asked = match identity.is_some() || has_scope {
            true => timeout(PATIENCE, self.ask(tokens)).await.ok().flatten(),
            false => None,
        };
        asked
            .and_then(|claims| name(&claims, &NAMES))
            .or_else(|| identity.and_then(|claims| name(&claims, &["sub"])))
    }

    async fn ask(&self, tokens: &OAuthTokenResponse) -> Option<AccountClaims> {
        let address = self.address.as_ref()?;
        let value = format!("Bearer {}", tokens.access_token().secret());
        let mut authorization = HeaderValue::try_from(value).ok()?;
        authorization.set_sensitive(true);
        let answer = self.http.get(address, authorization).await.ok()?;
        answer.status().is_success().then(|| serde_json::from_slice(answer.body()).ok())?
    }
}

/// What the identity token says, without a look at its signature.
fn identity(tokens: &OAuthTokenResponse) -> Option<AccountClaims> {
    let token = tokens.extra_fields().0.get("id_token")?.as_str()?;
    let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?;
    serde_json::from_slice(&claims).ok()
}

/// The first of these claims that is a name, safe to show.
fn name(claims: &AccountClaims, names: &[&str]) -> Option<String> {
    let given = names.iter().filter_map(|name| claims.get(*name)?.as_str());
    given
        .map(|name| redaction::excerpt(name.as_bytes(), LONGEST_NAME))
        .find(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn metadata(userinfo: &str) -> AuthorizationMetadata {
        serde_json::from_value(json!({
            "issuer": "https://login.example",
            "authorization_endpoint": "https://login.example/authorize",
            "token_endpoint": "https://login.example/token",
            "userinfo_endpoint": userinfo,
        }))
        .unwrap()
    }

    async fn account(claims: &Value) -> Option<String> {
        let body = URL_SAFE_NO_PAD.encode(claims.to_string());
        let credentials: StoredCredentials = serde_json::from_value(json!({
            "client_id": "evermoor",
            "token_response": {
                "access_token": "a-token", "token_type": "bearer", "id_token": format!("e30.{body}.s"),
            },
        }))
        .unwrap();
        let http = Arc::new(OAuthHttp::new(&super::super::tests::server("").reach));
        AccountSource::new(http, &metadata("https://elsewhere.example/me")).of(&credentials).await
    }

    #[tokio::test]
    async fn the_account_is_what_a_user_recognises_it_by() {
        let all = json!({ "sub": "7", "name": "Ada", "email": "ada@example.com" });
        assert_eq!(account(&all).await.as_deref(), Some("ada@example.com"));
        let named = json!({ "sub": "7", "email": 1, "preferred_username": "", "name": "Ada" });
        assert_eq!(account(&named).await.as_deref(), Some("Ada"));
        assert_eq!(account(&json!({ "sub": "7" })).await.as_deref(), Some("7"));
        assert_eq!(account(&json!({})).await, None);
        assert_eq!(account(&json!("a text")).await, None);
    }

    #[tokio::test]
    async fn an_account_is_one_short_line() {
        let hostile = json!({ "email": format!("a\u{1b}[2J\n{}", "b".repeat(5_000)) });
        let shown = account(&hostile).await.unwrap();
        assert!(
            shown.chars().count() <= LONGEST_NAME + 1 && !shown.contains(['\u{1b}', '\n']),
            "{shown}"
        );
    }

    #[test]
    fn only_the_authorization_server_itself_is_asked_about_the_user() {
        let http = Arc::new(OAuthHttp::new(&super::super::tests::server("").reach));
        let address = |named: &str| AccountSource::new(Arc::clone(&http), &metadata(named)).address;
        assert!(address("https://login.example/me").is_some());
        for other in ["https://elsewhere.example/me", "http://login.example/me", "not an address"] {
            assert_eq!(address(other), None, "{other}");
        }
    }
}
