//! Renews the access token of a grant: with its refresh token, or with the client's own secret.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use rmcp::transport::auth::{
    AuthError, AuthorizationManager, ClientCredentialsConfig, CredentialRefreshGuard,
    CredentialStore, StoredCredentials,
};

use evermoor_core::config::Grant;
use evermoor_core::failure::Failure;
use evermoor_core::security::redaction::known::Secret;

use super::authorization_server::{self, Unprepared};
use super::client_assertion::{KeyedClient, is_private_key};
use super::client_identity::{self, ClientIdentity};
use super::oauth_http::OAuthHttp;
use super::stored_grant::{GrantKey, StoredGrant};
use super::{GrantContext, ProtectedServer, failures};

/// Why a token was not renewed.
pub(super) enum RenewalError {
    /// It is tried again.
    Unavailable(Failure),
    /// The authorization server refused the refresh token.
    Rejected,
    /// The user must do something first.
    Refused(Failure),
}

/// The client of one grant at its authorization server. It is kept, so that the server is asked about
/// itself only once.
pub(super) struct RenewalClient {
    manager: AuthorizationManager,
    http: Arc<OAuthHttp>,
    record: Arc<GrantRecord>,
    /// Set for a client that has a secret of its own.
    credentials: Option<OwnCredentials>,
}

/// How a client proves who it is without a sign-in.
enum OwnCredentials {
    Secret(ClientCredentialsConfig),
    Key(Box<KeyedClient>),
}

/// The grant in memory, which rmcp reads and writes.
pub(super) struct GrantRecord {
    key: GrantKey,
    context: GrantContext,
    grant: Mutex<StoredGrant>,
    /// The grant before it. Its access token may still be in use, so it is hidden as well.
    previous: Mutex<Option<StoredGrant>>,
    /// Set if the last write failed. The grant is written again later.
    is_unsaved: Mutex<bool>,
}

impl RenewalClient {
    /// Prepares to renew `grant`; a client with a secret of its own has none before the first time.
    pub(super) async fn new(
        server: &ProtectedServer,
        grant: Option<StoredGrant>,
        key: &GrantKey,
        context: &GrantContext,
    ) -> Result<Self, RenewalError> {
        let http = Arc::new(OAuthHttp::new(&server.reach));
        let prepared = authorization_server::prepare(server, Arc::clone(&http)).await;
        let (mut manager, mut metadata) = prepared.map_err(|error| match error {
            Unprepared::Unavailable(error) => {
                RenewalError::Unavailable(failures::unavailable(server, &error))
            }
            Unprepared::Refused(failure) => RenewalError::Refused(failure),
        })?;
        // rmcp asks for this scope at each renewal, even if it was not granted. A renewal must ask for
        // nothing more than what was granted.
        if let Some(scopes) = &mut metadata.scopes_supported {
            scopes.retain(|scope| scope != "offline_access");
        }
        manager.set_metadata(metadata.clone());
        let configured = client_identity::configured(server, &context.secrets).await;
        let configured = configured.map_err(RenewalError::Unavailable)?;
        let unusable =
            |error: AuthError| RenewalError::Unavailable(failures::unavailable(server, &error));
        let mut credentials = None;
        let grant = match (server.oauth.grant, grant) {
            (Grant::ClientCredentials, grant) => {
                let Some(ClientIdentity { id, secret: Some(secret) }) = configured else {
                    return Err(RenewalError::Refused(failures::signed_out(server)));
                };
                let resource = server.url.to_string();
                let unsupported = |error: AuthError| {
                    RenewalError::Refused(failures::client_refused(server, &error.to_string()))
                };
                let none = StoredCredentials::new(id.clone(), None, Vec::new(), None);
                if is_private_key(&secret) {
                    let keyed = KeyedClient::new(server, &metadata, &id, &Secret::new(secret));
                    credentials = Some(OwnCredentials::Key(Box::new(keyed.map_err(unsupported)?)));
                    let resource = resource.clone();
                    grant.unwrap_or(StoredGrant {
                        resource,
                        client_secret: None,
                        credentials: none,
                        account: None,
                    })
                } else {
                    let config = ClientCredentialsConfig::ClientSecret {
                        client_id: id,
                        client_secret: secret,
                        scopes: server.oauth.scopes.clone(),
                        resource: Some(resource.clone()),
                    };
                    manager.validate_client_credentials_metadata(&config).map_err(unsupported)?;
                    manager.configure_client_credentials(&config).map_err(unusable)?;
                    credentials = Some(OwnCredentials::Secret(config));
                    grant.unwrap_or(StoredGrant {
                        resource,
                        client_secret: None,
                        credentials: none,
                        account: None,
                    })
                }
            }
            (Grant::AuthorizationCode | Grant::DeviceCode, Some(grant)) => {
                if grant.credentials.issuer != metadata.issuer {
                    return Err(RenewalError::Refused(failures::moved(server)));
                }
                let client = configured.unwrap_or(ClientIdentity {
                    id: grant.credentials.client_id.clone(),
                    secret: grant.client_secret.clone(),
                });
                let config = client_identity::config(client, server.url.as_str());
                manager.configure_client(config).map_err(unusable)?;
                grant
            }
            (Grant::AuthorizationCode | Grant::DeviceCode, None) => {
                return Err(RenewalError::Refused(failures::signed_out(server)));
            }
        };
        let record = Arc::new(GrantRecord {
            key: key.clone(),
            context: context.clone(),
            grant: Mutex::new(grant),
            previous: Mutex::default(),
            is_unsaved: Mutex::new(false),
        });
        manager.set_credential_store(Shared(Arc::clone(&record)));
        Ok(Self { manager, http, record, credentials })
    }

    /// Asks for another token, which is stored when this returns.
    pub(super) async fn renew(
        &self,
        server: &ProtectedServer,
        grant: Option<StoredGrant>,
    ) -> Result<StoredGrant, RenewalError> {
        if let Some(grant) = grant {
            *self.record.grant.lock() = grant;
        }
        let renewed = match &self.credentials {
            Some(credentials) => {
                let guard = self.record.acquire_guard().await;
                let _guard =
                    guard.map_err(|_| RenewalError::Unavailable(failures::taken_over(server)))?;
                match credentials {
                    OwnCredentials::Secret(config) => {
                        self.manager.exchange_client_credentials(config).await.map(drop)
                    }
                    OwnCredentials::Key(client) => {
                        let now = self.record.context.clock.now();
                        match client.exchange(&self.http, now).await {
                            Ok(credentials) => {
                                Shared(Arc::clone(&self.record)).save(credentials).await
                            }
                            Err(error) => Err(error),
                        }
                    }
                }
            }
            None => self.manager.refresh_token().await.map(drop),
        };
        match (renewed, self.http.refusal()) {
            (Ok(_), _) => Ok(self.record.grant.lock().clone()),
            (Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired), _) => {
                Err(RenewalError::Rejected)
            }
            (Err(AuthError::CredentialStoreError(_)), _) => {
                Err(RenewalError::Unavailable(failures::taken_over(server)))
            }
            (Err(_), Some(code)) if is_final(&code) => {
                Err(RenewalError::Refused(failures::client_refused(server, &code)))
            }
            (Err(error), _) => {
                Err(RenewalError::Unavailable(failures::unavailable(server, &error)))
            }
        }
    }

    /// Writes the grant again if the last write failed. Returns whether it is stored.
    pub(super) async fn save_again(&self) -> bool {
        if *self.record.is_unsaved.lock() {
            self.record.write().await;
        }
        !*self.record.is_unsaved.lock()
    }
}

/// Whether an error code of OAuth stays until the user changes something.
fn is_final(code: &str) -> bool {
    [
        "invalid_client",
        "unauthorized_client",
        "unsupported_grant_type",
        "invalid_scope",
        "invalid_target",
        "access_denied",
    ]
    .contains(&code)
}

impl GrantRecord {
    async fn acquire_guard(&self) -> Result<CredentialRefreshGuard, AuthError> {
        let guard = self.context.lease.take_long().await;
        guard.map(CredentialRefreshGuard::new).ok_or_else(|| {
            AuthError::CredentialStoreError("another gateway writes the grants".to_owned())
        })
    }

    /// Writes the grant. If that fails, the tokens are used from memory: the old refresh token is void
    /// already, so refusing to use the new ones would only end the sign-in.
    async fn write(&self) {
        let grant = self.grant.lock().clone();
        let written = self.context.store.save(&self.key, &grant).await;
        if let Err(failure) = &written {
            tracing::warn!(%failure, "a renewed sign-in cannot be stored; it is tried again");
        }
        *self.is_unsaved.lock() = written.is_err();
    }
}

/// The record, as rmcp's store.
struct Shared(Arc<GrantRecord>);

#[async_trait]
impl CredentialStore for Shared {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        Ok(Some(self.0.grant.lock().credentials.clone()))
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        {
            let mut grant = self.0.grant.lock();
            let before = grant.clone();
            grant.credentials = credentials;
            grant.hide();
            if let Some(older) = self.0.previous.lock().replace(before) {
                older.replaced_by(&grant);
            }
        }
        self.0.write().await;
        Ok(())
    }

    /// Only the user ends a grant.
    async fn clear(&self) -> Result<(), AuthError> {
        Err(AuthError::CredentialStoreError("only a person ends a grant".to_owned()))
    }

    async fn acquire_refresh_guard(&self) -> Result<Option<CredentialRefreshGuard>, AuthError> {
        self.0.acquire_guard().await.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{context, file_store, grant, server};
    use super::*;

    #[tokio::test]
    async fn tokens_that_cannot_be_stored_are_used_and_stored_later() {
        let folder = tempfile::tempdir().unwrap();
        let (key, context) = (GrantKey::of(&server("")), context(file_store(&folder)));
        context.store.save(&key, &grant("canary-before")).await.unwrap();
        let record = Arc::new(GrantRecord {
            key: key.clone(),
            context: context.clone(),
            grant: Mutex::new(grant("canary-before")),
            previous: Mutex::default(),
            is_unsaved: Mutex::new(false),
        });
        // The authorization server has replaced the tokens. The old ones are void.
        let elsewhere = folder.path().join("a-file").join("sign-ins.json");
        std::fs::write(folder.path().join("a-file"), "not a folder").unwrap();
        context.store.keep_in(elsewhere.to_str());
        let renewed = Shared(Arc::clone(&record)).save(grant("canary-after").credentials).await;
        assert!(renewed.is_ok(), "the tokens can be used");
        assert!(record.grant.lock().has_token_of(&grant("canary-after")));
        assert!(*record.is_unsaved.lock(), "they are written again");
        context.store.keep_in(folder.path().join("sign-ins.json").to_str());
        record.write().await;
        assert!(!*record.is_unsaved.lock());
        let stored = context.store.load(&key).await.unwrap().unwrap();
        assert!(stored.has_token_of(&grant("canary-after")));
    }
}
