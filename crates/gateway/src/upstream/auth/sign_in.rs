//! Sign-ins that wait for the user.
//!
//! # Theory of operation
//! A sign-in begins with a page of the authorization server, which the user opens in a browser. That
//! page sends the browser to `/oauth/callback` of this gateway, or the user pastes that address. The
//! state in it names the sign-in: it is random, is used once, belongs to one upstream and expires. rmcp
//! checks the issuer and the code challenge. The caller that began the sign-in waits for its end in a
//! `watch`. Several sign-ins do not disturb each other; a new one for the same upstream replaces the
//! old one.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationSession, CredentialStore as _,
    InMemoryCredentialStore,
};
use tokio::sync::watch;
use tokio::time::Instant;
use url::Url;

use evermoor_core::api::SignedOut;
use evermoor_core::failure::Failure;

use super::account::AccountSource;
use super::authorization_server::{self, Unprepared};
use super::client_identity::{self, ClientIdentity};
use super::oauth_http::OAuthHttp;
use super::pending_secrets::PendingSecrets;
use super::stored_grant::{GrantKey, StoredGrant};
use super::{Grants, ProtectedServer, failures, revocation};

/// The sign-ins of a gateway.
#[derive(Clone)]
pub struct SignIns(Arc<SignInsState>);

struct SignInsState {
    grants: Grants,
    /// Where browsers come back to.
    redirect: String,
    /// By the state that the browser brings back.
    pending: Mutex<HashMap<String, PendingSignIn>>,
    /// The last sign-in to each upstream.
    progress: Mutex<HashMap<String, watch::Receiver<SignInProgress>>>,
}

/// A sign-in that waits for the user.
struct PendingSignIn {
    server: ProtectedServer,
    client: ClientIdentity,
    session: AuthorizationSession,
    credentials: InMemoryCredentialStore,
    hidden: PendingSecrets,
    account: AccountSource,
    began: Instant,
    progress: watch::Sender<SignInProgress>,
}

/// How far a sign-in is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignInProgress {
    Waiting,
    Done,
    Failed(Failure),
}

/// What came of a callback.
pub(crate) struct CallbackResult {
    /// The server, if the callback belongs to a sign-in.
    pub(crate) server: Option<ProtectedServer>,
    pub(crate) result: Result<(), Failure>,
}

/// How long the user may take.
const LIFETIME: Duration = Duration::from_secs(10 * 60);
/// How many sign-ins may wait at once.
const MOST: usize = 64;
/// The path of the callback.
pub(crate) const CALLBACK: &str = "/oauth/callback";

impl SignIns {
    /// Sign-ins to a gateway with this origin.
    pub(crate) fn new(grants: Grants, origin: &str) -> Self {
        let redirect = format!("{origin}{CALLBACK}");
        Self(Arc::new(SignInsState {
            grants,
            redirect,
            pending: Mutex::default(),
            progress: Mutex::default(),
        }))
    }

    /// Begins a sign-in to a server, and returns the page that the user opens.
    pub(crate) async fn begin(&self, server: ProtectedServer) -> Result<String, Failure> {
        let mut asked = server.clone();
        asked.oauth.scopes = self.scopes(&server).await?;
        let http = Arc::new(OAuthHttp::new(&server.reach));
        let redirect = self.0.redirect.as_str();
        let prepared = authorization_server::prepare(&server, Arc::clone(&http)).await;
        let (mut manager, metadata) = prepared.map_err(|error| match error {
            Unprepared::Unavailable(error) => failures::sign_in_failed(&server, &error),
            Unprepared::Refused(failure) => failure,
        })?;
        let credentials = InMemoryCredentialStore::new();
        manager.set_credential_store(credentials.clone());
        let hidden = PendingSecrets::default();
        manager.set_state_store(hidden.state_store());
        let secrets = &self.0.grants.context().secrets;
        let client =
            client_identity::for_sign_in(&mut manager, &metadata, &asked, secrets, redirect)
                .await?;
        let request = client_identity::request(&client, &asked.oauth.scopes, redirect);
        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, error)| failures::sign_in_failed(&server, &error))?;
        let url = session.get_authorization_url().to_owned();
        let state = query(&url, "state").ok_or_else(|| {
            failures::sign_in_failed(&server, &AuthError::AuthorizationFailed("no state".into()))
        })?;
        let (progress, shown) = watch::channel(SignInProgress::Waiting);
        self.0.progress.lock().insert(server.name.clone(), shown);
        let account = AccountSource::new(http, &metadata);
        let began = Instant::now();
        let sign_in = PendingSignIn {
            server,
            client,
            session,
            credentials,
            hidden,
            account,
            began,
            progress,
        };
        let mut pending = self.0.pending.lock();
        pending.retain(|_, other| {
            other.began.elapsed() < LIFETIME && other.server.name != sign_in.server.name
        });
        if pending.len() >= MOST
            && let Some(oldest) =
                pending.iter().min_by_key(|(_, other)| other.began).map(|(state, _)| state.clone())
        {
            pending.remove(&oldest);
        }
        pending.insert(state, sign_in);
        Ok(url)
    }

    /// How far the last sign-in to this upstream is, if there was one.
    pub(crate) fn progress(&self, upstream: &str) -> Option<watch::Receiver<SignInProgress>> {
        self.0.progress.lock().get(upstream).cloned()
    }

    /// Ends the sign-in to which a callback belongs. `address` is the address that the browser opened.
    pub(crate) async fn complete(&self, address: &str) -> CallbackResult {
        let state = query(address, "state");
        let taken = state.and_then(|state| Some((self.take(&state)?, state)));
        let Some((sign_in, state)) = taken else {
            return CallbackResult { server: None, result: Err(failures::unknown_sign_in()) };
        };
        if let Some(code) = query(address, "code") {
            sign_in.hidden.hide(&code);
        }
        let server = Some(sign_in.server.clone());
        let result = match query(address, "error") {
            Some(code) => Err(failures::declined(&sign_in.server, &code)),
            None => match self.exchange(&sign_in, address).await {
                Err(CodeExchangeError::OtherIssuer(failure)) => {
                    // The callback is not from the authorization server, which may still answer.
                    self.0.pending.lock().insert(state, sign_in);
                    return CallbackResult { server, result: Err(failure) };
                }
                Err(CodeExchangeError::Failed(failure)) => Err(failure),
                Ok(()) => Ok(()),
            },
        };
        sign_in.progress.send_replace(match &result {
            Ok(()) => SignInProgress::Done,
            Err(failure) => SignInProgress::Failed(failure.clone()),
        });
        CallbackResult { server, result }
    }

    /// Ends the grant of a server, here and there.
    pub(crate) async fn sign_out(&self, server: ProtectedServer) -> Result<SignedOut, Failure> {
        self.0.pending.lock().retain(|_, pending| pending.server.name != server.name);
        let Some(ended) = self.0.grants.of(server.clone()).sign_out().await? else {
            return Ok(SignedOut { was_signed_in: false, revoked: false });
        };
        let secrets = &self.0.grants.context().secrets;
        let revoked = revocation::revoke(&server, &ended, secrets).await;
        Ok(SignedOut { was_signed_in: true, revoked })
    }

    /// The scopes to ask for; none for those that the server names. A call that lacked some adds them to
    /// those that were granted.
    async fn scopes(&self, server: &ProtectedServer) -> Result<Vec<String>, Failure> {
        let mut scopes = server.oauth.scopes.clone();
        let lacking = self.0.grants.of(server.clone()).lacking();
        // Read in any case: nobody should sign in if the result cannot be stored.
        let grant = self.0.grants.context().store.load(&GrantKey::of(server)).await?;
        if !lacking.is_empty() {
            let granted = grant.map(|grant| grant.credentials.granted_scopes).unwrap_or_default();
            for scope in granted.into_iter().chain(lacking) {
                if !scopes.contains(&scope) {
                    scopes.push(scope);
                }
            }
        }
        Ok(scopes)
    }

    fn take(&self, state: &str) -> Option<PendingSignIn> {
        let sign_in = self.0.pending.lock().remove(state)?;
        (sign_in.began.elapsed() < LIFETIME).then_some(sign_in)
    }

    async fn exchange(
        &self,
        sign_in: &PendingSignIn,
        address: &str,
    ) -> Result<(), CodeExchangeError> {
        let failed = |error: AuthError| {
            CodeExchangeError::Failed(failures::sign_in_failed(&sign_in.server, &error))
        };
        let callback = AuthorizationCallback::from_redirect_url(address).map_err(failed)?;
        let exchanged = sign_in.session.handle_callback_with_issuer(
            &callback.code,
            &callback.csrf_token,
            callback.issuer.as_deref(),
        );
        if let Err(error) = exchanged.await {
            let failure = failures::sign_in_failed(&sign_in.server, &error);
            let other_issuer = matches!(
                error,
                AuthError::AuthorizationServerMismatch { .. }
                    | AuthError::AuthorizationServerMissingIssuer { .. }
            );
            return Err(match other_issuer {
                true => CodeExchangeError::OtherIssuer(failure),
                false => CodeExchangeError::Failed(failure),
            });
        }
        let credentials = sign_in.credentials.load().await.map_err(failed)?;
        let credentials = credentials.ok_or_else(|| failed(AuthError::AuthorizationRequired))?;
        let is_configured = sign_in.server.oauth.client.is_some();
        let grant = StoredGrant {
            resource: sign_in.server.url.to_string(),
            client_secret: sign_in.client.secret.clone().filter(|_| !is_configured),
            account: sign_in.account.of(&credentials).await,
            credentials,
        };
        let handle = self.0.grants.of(sign_in.server.clone());
        handle.signed_in(grant).await.map_err(CodeExchangeError::Failed)
    }
}

/// Why a code was not exchanged for tokens.
enum CodeExchangeError {
    /// The callback came from another authorization server, or from none.
    OtherIssuer(Failure),
    Failed(Failure),
}

/// A member of the query of an address.
fn query(address: &str, name: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    let mut found = url.query_pairs().filter(|(key, _)| key == name);
    let first = found.next()?.1.into_owned();
    // A member that occurs twice is ambiguous.
    found.next().is_none().then_some(first)
}
