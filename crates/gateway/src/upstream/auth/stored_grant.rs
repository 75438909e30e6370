//! What is kept of a grant, and under which key.
//!
//! A grant belongs to a server, a client and an authorization server. The key has the first, and what the
//! user configured of the others. An access token is sent only to the server in the key. Refresh tokens
//! and secrets are sent only to the authorization server that issued the grant: its issuer is in the
//! grant and is compared before each renewal and revocation.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD as BASE64;
use http::HeaderValue;
use oauth2::TokenResponse as _;
use rmcp::transport::auth::{OAuthTokenResponse, StoredCredentials};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use evermoor_core::policy::token_refresh::TokenLifetime;
use evermoor_core::security::redaction::known::Secret;

use super::ProtectedServer;
use crate::system::redaction;

/// The name under which a grant is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct GrantKey(String);

/// A grant, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct StoredGrant {
    /// The server for which the tokens are.
    pub(super) resource: String,
    /// The secret of a client that registered itself. That of a configured client is not kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) client_secret: Option<String>,
    pub(super) credentials: StoredCredentials,
    /// What the authorization server calls the account that signed in, to show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) account: Option<String>,
}

/// An access token, ready to send.
#[derive(Clone)]
pub(crate) struct AccessToken {
    pub(crate) header: HeaderValue,
    /// Counts the tokens of this grant.
    pub(super) number: u64,
    pub(super) lifetime: TokenLifetime,
    /// Whose it is, if that is known.
    pub(super) account: Option<Arc<str>>,
}

impl GrantKey {
    pub(super) fn of(server: &ProtectedServer) -> Self {
        let client = server.oauth.client.as_ref().map(|client| client.id.as_str());
        let issuer = server.oauth.authorization_server.as_ref().map(url::Url::as_str);
        let words = [
            server.url.as_str(),
            client.unwrap_or_default(),
            issuer.unwrap_or_default(),
            server.oauth.grant.as_str(),
        ];
        // A line break is in none of them.
        let digest = Sha256::digest(words.join("\n"));
        // A name that `evermoor secret set` refuses, so that nobody overwrites it by mistake.
        Self(format!("oauth:{}", BASE64.encode(&digest[..18])))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl StoredGrant {
    pub(super) fn tokens(&self) -> Option<&OAuthTokenResponse> {
        self.credentials.token_response.as_ref()
    }

    pub(super) fn can_be_renewed(&self) -> bool {
        self.tokens().is_some_and(|tokens| tokens.refresh_token().is_some())
    }

    /// Whether both have the same access token.
    pub(super) fn has_token_of(&self, other: &Self) -> bool {
        let secret =
            |grant: &Self| grant.tokens().map(|tokens| tokens.access_token().secret().to_owned());
        secret(self) == secret(other)
    }

    /// The access token with this number; `None` if it cannot be sent.
    pub(super) fn token(&self, number: u64) -> Option<AccessToken> {
        let tokens = self.tokens()?;
        let value = format!("Bearer {}", tokens.access_token().secret());
        let mut header = HeaderValue::try_from(value).ok()?;
        header.set_sensitive(true);
        let received = Duration::from_secs(self.credentials.token_received_at.unwrap_or_default());
        let received = SystemTime::UNIX_EPOCH.checked_add(received)?;
        let lifetime = TokenLifetime { received, length: tokens.expires_in() };
        let account = self.account.as_deref().map(Arc::from);
        Some(AccessToken { header, number, lifetime, account })
    }

    /// Hides its secrets wherever something is shown.
    pub(super) fn hide(&self) {
        self.secrets().iter().for_each(redaction::hide);
    }

    /// Stops hiding the secrets that `newer` does not have.
    pub(super) fn replaced_by(&self, newer: &Self) {
        let kept = newer.secrets();
        self.secrets().iter().filter(|secret| !kept.contains(secret)).for_each(redaction::forget);
    }

    fn secrets(&self) -> Vec<Secret> {
        let tokens = self.tokens();
        let access = tokens.map(|tokens| tokens.access_token().secret().clone());
        let refresh = tokens.and_then(|tokens| tokens.refresh_token());
        let refresh = refresh.map(|token| token.secret().clone());
        let extra = tokens.map(|tokens| &tokens.extra_fields().0);
        let id = extra.and_then(|extra| extra.get("id_token")).and_then(|token| token.as_str());
        let all = [access, refresh, id.map(str::to_owned), self.client_secret.clone()];
        all.into_iter().flatten().map(Secret::new).collect()
    }
}
