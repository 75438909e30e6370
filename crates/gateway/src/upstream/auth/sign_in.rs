//! Sign-ins that wait for the user.
//!
//! # Theory of operation
//! A sign-in begins with a page of the authorization server, which the user opens in a browser. There
//! are two ways to end it:
//!
//! - The page sends the browser to `/oauth/callback` of this gateway, or the user pastes that address.
//!   The state in it names the sign-in: it is random, is used once, belongs to one upstream and expires.
//!   rmcp checks the issuer and the code challenge.
//! - The user enters a code on the page, on any device, and a task of this gateway asks the
//!   authorization server for the tokens ([`DeviceSignIn`]). It ends with the sign-in, with the code,
//!   when the user cancels, and when another gateway takes over.
//!
//! The caller that began the sign-in waits for its end in a `watch`. Several sign-ins do not disturb each
//! other; a new one for the same upstream replaces the old one.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rmcp::transport::auth::{
    AuthError, AuthorizationCallback, AuthorizationManager, AuthorizationMetadata,
    AuthorizationSession, CredentialStore as _, InMemoryCredentialStore,
};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use url::Url;

use evermoor_core::api::{SignInPage, SignedOut};
use evermoor_core::config::Grant;
use evermoor_core::failure::Failure;

use super::account::AccountSource;
use super::authorization_server::{self, Unprepared};
use super::client_identity::{self, ClientIdentity};
use super::device_flow::{self, DeviceSignIn};
use super::oauth_http::OAuthHttp;
use super::pending_secrets::PendingSecrets;
use super::stored_grant::{GrantKey, StoredGrant};
use super::{Grants, ProtectedServer, failures, revocation};
use crate::upstream::delivery::sign_in_request::AskedSession;

/// The sign-ins of a gateway.
#[derive(Clone)]
pub struct SignIns(Arc<SignInsState>);

struct SignInsState {
    grants: Grants,
    /// Where browsers come back to.
    redirect: String,
    /// Those in a browser, by the state that it brings back.
    pending: Mutex<HashMap<String, PendingSignIn>>,
    /// The last sign-in to each upstream.
    latest: Mutex<HashMap<String, LatestSignIn>>,
    /// Receives each server to which the user signed in or out.
    changed: mpsc::Sender<ProtectedServer>,
    /// Held by upstream while a sign-in begins that several calls share.
    beginning: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
    /// The sessions that are asked to open the page of a sign-in to an upstream.
    asked: Mutex<HashMap<(String, u64), SessionAnswer>>,
}

/// Whether the user of a session opens the page, once the session has answered.
type SessionAnswer = watch::Receiver<Option<bool>>;

/// A sign-in in a browser that waits for the user.
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

/// The last sign-in to an upstream, which may have ended.
struct LatestSignIn {
    progress: watch::Receiver<SignInProgress>,
    began: Instant,
    /// The scopes that it asks for.
    scopes: Vec<String>,
    /// Ends the task that waits for the person to enter a code.
    stop: CancellationToken,
}

/// How far a sign-in is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum SignInProgress {
    Waiting(SignInPage),
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
/// A sign-in that ends sooner is not shown to a person.
const TIME_TO_SIGN_IN: Duration = Duration::from_secs(2 * 60);
/// How many changed servers wait until their upstreams are reconnected.
const MOST_CHANGED: usize = 64;
/// How often a task that waits for a code checks whether another gateway has taken over.
const TAKEOVER_CHECK: Duration = Duration::from_secs(1);
/// The path of the callback.
pub(crate) const CALLBACK: &str = "/oauth/callback";

impl SignIns {
    /// Sign-ins to a gateway with this origin, and the servers whose upstreams must reconnect because
    /// their sign-in has changed.
    pub(crate) fn new(grants: Grants, origin: &str) -> (Self, mpsc::Receiver<ProtectedServer>) {
        let redirect = format!("{origin}{CALLBACK}");
        let (changed, changes) = mpsc::channel(MOST_CHANGED);
        let state = SignInsState {
            grants,
            redirect,
            changed,
            pending: Mutex::default(),
            latest: Mutex::default(),
            beginning: Mutex::default(),
            asked: Mutex::default(),
        };
        (Self(Arc::new(state)), changes)
    }

    pub(crate) fn grants(&self) -> Grants {
        self.0.grants.clone()
    }

    /// The sign-in to a server that waits for the user, or a new one. Calls that need one at the same
    /// time share it.
    pub(crate) async fn waiting_or_new(
        &self,
        server: &ProtectedServer,
    ) -> Result<(SignInPage, watch::Receiver<SignInProgress>), Failure> {
        let beginning = Arc::clone(self.0.beginning.lock().entry(server.name.clone()).or_default());
        let _beginning = beginning.lock().await;
        let scopes = self.scopes(server).await?;
        if let Some(waiting) = self.waiting(&server.name, &scopes) {
            return Ok(waiting);
        }
        self.begin(server.clone(), true).await?;
        // Another sign-in may have replaced it already.
        self.waiting(&server.name, &scopes).ok_or_else(|| failures::cancelled(server))
    }

    /// The sign-in to an upstream that waits for the user, if it asks for these scopes.
    fn waiting(
        &self,
        upstream: &str,
        scopes: &[String],
    ) -> Option<(SignInPage, watch::Receiver<SignInProgress>)> {
        let latest = self.0.latest.lock();
        let last = latest.get(upstream)?;
        let SignInProgress::Waiting(page) = last.progress.borrow().clone() else { return None };
        let has_time = last.began.elapsed() + TIME_TO_SIGN_IN < LIFETIME;
        // The end of its task or its expiry closes the channel.
        let waits = last.progress.has_changed().is_ok() && has_time && last.scopes == scopes;
        waits.then(|| (page, last.progress.clone()))
    }

    /// Whether a session is asked to open the page of a sign-in.
    pub(crate) fn asks_session(&self, upstream: &str, session: u64) -> AskedSession {
        let mut asked = self.0.asked.lock();
        asked.retain(|_, answer| answer.has_changed().is_ok());
        match asked.entry((upstream.to_owned(), session)) {
            Entry::Occupied(answer) => AskedSession::Already(answer.get().clone()),
            Entry::Vacant(place) => {
                let (answer, answered) = watch::channel(None);
                place.insert(answered);
                AskedSession::First(answer)
            }
        }
    }

    /// Begins a sign-in to a server, and returns the page that the user opens. Without a browser on
    /// this computer, the user gets a code if the authorization server gives one.
    pub(crate) async fn begin(
        &self,
        server: ProtectedServer,
        has_browser: bool,
    ) -> Result<SignInPage, Failure> {
        let mut asked = server.clone();
        asked.oauth.scopes = self.scopes(&server).await?;
        let http = Arc::new(OAuthHttp::new(&server.reach));
        let prepared = authorization_server::prepare(&server, Arc::clone(&http)).await;
        let (manager, metadata) = prepared.map_err(|error| match error {
            Unprepared::Unavailable(error) => failures::sign_in_failed(&server, &error),
            Unprepared::Refused(failure) => failure,
        })?;
        let needs_code = server.oauth.grant == Grant::DeviceCode;
        if needs_code || !has_browser && device_flow::is_offered(&metadata) {
            let context = self.0.grants.context();
            let begun =
                DeviceSignIn::begin(&asked, &manager, &metadata, Arc::clone(&http), context).await;
            match begun.and_then(|sign_in| Ok((sign_in.page()?, sign_in))) {
                Ok((page, sign_in)) => {
                    self.wait_for_code(server, asked.oauth.scopes, page.clone(), sign_in);
                    return Ok(page);
                }
                Err(failure) if needs_code => return Err(failure),
                // It offers codes, but not to this client.
                Err(failure) => tracing::info!(upstream = %server.name, %failure, "no code"),
            }
        }
        let account = AccountSource::new(http, &metadata);
        self.begin_in_browser(server, &asked, manager, &metadata, account).await
    }

    async fn begin_in_browser(
        &self,
        server: ProtectedServer,
        asked: &ProtectedServer,
        mut manager: AuthorizationManager,
        metadata: &AuthorizationMetadata,
        account: AccountSource,
    ) -> Result<SignInPage, Failure> {
        let redirect = self.0.redirect.as_str();
        let credentials = InMemoryCredentialStore::new();
        manager.set_credential_store(credentials.clone());
        let hidden = PendingSecrets::default();
        manager.set_state_store(hidden.state_store());
        let secrets = &self.0.grants.context().secrets;
        let client =
            client_identity::for_sign_in(&mut manager, metadata, asked, secrets, redirect).await?;
        let request = client_identity::request(&client, &asked.oauth.scopes, redirect);
        let session = AuthorizationSession::new(manager, request).await;
        let session = session.map_err(|(_, error)| failures::sign_in_failed(&server, &error))?;
        let url = session.get_authorization_url().to_owned();
        let state = query(&url, "state").ok_or_else(|| {
            failures::sign_in_failed(&server, &AuthError::AuthorizationFailed("no state".into()))
        })?;
        let page = SignInPage { url, code: None, url_with_code: None };
        let scopes = asked.oauth.scopes.clone();
        let (progress, _) = self.replace(&server.name, scopes, page.clone());
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
        pending.retain(|_, other| other.began.elapsed() < LIFETIME);
        if pending.len() >= MOST
            && let Some(oldest) =
                pending.iter().min_by_key(|(_, other)| other.began).map(|(state, _)| state.clone())
        {
            pending.remove(&oldest);
        }
        pending.insert(state, sign_in);
        Ok(page)
    }

    /// Waits in a task of its own until the person has entered the code.
    fn wait_for_code(
        &self,
        server: ProtectedServer,
        scopes: Vec<String>,
        page: SignInPage,
        sign_in: DeviceSignIn,
    ) {
        let (progress, stop) = self.replace(&server.name, scopes, page);
        let (own, context) = (self.clone(), self.0.grants.context().clone());
        let (lease, clock, tasks) = (context.lease, context.clock, context.tasks);
        let waiting = async move {
            let taken_over = async {
                while lease.is_held() {
                    sleep(TAKEOVER_CHECK).await;
                }
            };
            let permitted = tokio::select! {
                permitted = sign_in.wait(|| clock.now()) => permitted,
                () = taken_over => Err(failures::taken_over(&server)),
            };
            let result = match permitted {
                Ok(grant) => own.keep(&server, grant).await,
                Err(failure) => Err(failure),
            };
            own.end(&progress, server, result).await;
        };
        let until = [context.stop, stop];
        tasks.spawn(async move {
            let [stopped, replaced] = until;
            let waiting = Box::pin(waiting);
            replaced.run_until_cancelled_owned(stopped.run_until_cancelled_owned(waiting)).await;
        });
    }

    /// Ends the last sign-in to this upstream, and begins to show the progress of another.
    fn replace(
        &self,
        upstream: &str,
        scopes: Vec<String>,
        page: SignInPage,
    ) -> (watch::Sender<SignInProgress>, CancellationToken) {
        let stop = CancellationToken::new();
        let (progress, shown) = watch::channel(SignInProgress::Waiting(page));
        let began = Instant::now();
        let next = LatestSignIn { progress: shown, began, scopes, stop: stop.clone() };
        let last = self.0.latest.lock().insert(upstream.to_owned(), next);
        last.inspect(|last| last.stop.cancel());
        self.0.pending.lock().retain(|_, other| other.server.name != upstream);
        (progress, stop)
    }

    /// Ends a sign-in that waits for the person. Returns whether there was one.
    pub(crate) fn cancel(&self, server: &ProtectedServer) -> bool {
        let mut latest = self.0.latest.lock();
        let waits = latest
            .get(&server.name)
            .is_some_and(|last| matches!(*last.progress.borrow(), SignInProgress::Waiting(_)));
        if waits {
            let (_, shown) = watch::channel(SignInProgress::Failed(failures::cancelled(server)));
            if let Some(last) = latest.get_mut(&server.name) {
                last.stop.cancel();
                last.progress = shown;
            }
        }
        drop(latest);
        self.0.pending.lock().retain(|_, other| other.server.name != server.name);
        waits
    }

    /// Stores what a person permitted.
    async fn keep(&self, server: &ProtectedServer, grant: StoredGrant) -> Result<(), Failure> {
        self.0.grants.of(server.clone()).signed_in(grant).await
    }

    /// Shows how a sign-in ended.
    async fn end(
        &self,
        progress: &watch::Sender<SignInProgress>,
        server: ProtectedServer,
        result: Result<(), Failure>,
    ) {
        match result {
            Ok(()) => {
                tracing::info!(upstream = %server.name, "signed in");
                progress.send_replace(SignInProgress::Done);
                let _ = self.0.changed.send(server).await;
            }
            Err(failure) => {
                tracing::info!(upstream = %server.name, %failure, "not signed in");
                progress.send_replace(SignInProgress::Failed(failure));
            }
        }
    }

    /// How far the last sign-in to this upstream is, if there was one.
    pub(crate) fn progress(&self, upstream: &str) -> Option<watch::Receiver<SignInProgress>> {
        self.0.latest.lock().get(upstream).map(|last| last.progress.clone())
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
        self.end(&sign_in.progress, sign_in.server, result.clone()).await;
        CallbackResult { server, result }
    }

    /// Ends the grant of a server, here and there.
    pub(crate) async fn sign_out(&self, server: ProtectedServer) -> Result<SignedOut, Failure> {
        self.cancel(&server);
        let Some(ended) = self.0.grants.of(server.clone()).sign_out().await? else {
            let _ = self.0.changed.send(server).await;
            return Ok(SignedOut { was_signed_in: false, revoked: false });
        };
        let secrets = &self.0.grants.context().secrets;
        let revoked = revocation::revoke(&server, &ended, secrets).await;
        let _ = self.0.changed.send(server).await;
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
        self.keep(&sign_in.server, grant).await.map_err(CodeExchangeError::Failed)
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
