//! The task that owns one grant, and the handle that everyone else holds.
//!
//! # Theory of operation
//! The task reads the grant from the store, shows its access token in a `watch`, and renews the token
//! shortly before it expires, so that the first call after a long pause finds a good one. It handles one
//! request at a time. A request for another token names the token that was refused: if there is a newer
//! one, that is the answer. So any number of requests that were refused together cause one renewal.
//!
//! Before a renewal the store is read again, because the gateway that was taken over may have renewed
//! the token last. A gateway without the write lease waits until it has it, or until the other one has
//! stored a new token.

use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::{Instant, sleep, timeout};

use evermoor_core::config::Grant;
use evermoor_core::failure::Failure;
use evermoor_core::policy::token_refresh::retry_wait;

use super::lacking_scopes::LackingScopes;
use super::renewal::{RenewalClient, RenewalError};
use super::stored_grant::{AccessToken, GrantKey, StoredGrant};
use super::{GrantContext, ProtectedServer, failures};
use crate::system::clock::ClockAndRandom;

/// A grant, as everyone except its task sees it.
#[derive(Clone)]
pub(crate) struct GrantHandle(Arc<GrantShared>);

pub(super) struct GrantShared {
    state: watch::Receiver<GrantState>,
    requests: mpsc::Sender<GrantRequest>,
    clock: ClockAndRandom,
    /// How the server is reached now, and what it is called.
    server: watch::Sender<ProtectedServer>,
    lacking: LackingScopes,
}

/// What is known of a grant.
#[derive(Clone)]
enum GrantState {
    /// The store has not been read, or it could not be.
    Unread,
    /// There is an access token, which may have expired.
    Usable(AccessToken),
    /// The user must do something first.
    Refused(Failure),
}

enum GrantRequest {
    /// Another token than the one with this number, or any.
    Token { refused: Option<u64>, reply: oneshot::Sender<Result<AccessToken, Failure>> },
    /// The user signed in.
    SignedIn { grant: Box<StoredGrant>, reply: oneshot::Sender<Result<(), Failure>> },
    /// The user signs out. The reply is the grant that there was.
    SignOut { reply: oneshot::Sender<Result<Option<StoredGrant>, Failure>> },
}

/// The task that owns a grant.
pub(super) struct GrantTask {
    key: GrantKey,
    server: ProtectedServer,
    changes: watch::Receiver<ProtectedServer>,
    grant: Option<StoredGrant>,
    /// How many tokens there were.
    number: u64,
    /// Prepared at the first renewal.
    client: Option<RenewalClient>,
    /// The last renewal that failed, until one succeeds.
    failed: Option<FailedRenewal>,
    show: watch::Sender<GrantState>,
    requests: mpsc::Receiver<GrantRequest>,
    context: GrantContext,
}

struct FailedRenewal {
    at: Instant,
    times: usize,
    failure: Failure,
}

/// How many requests wait for the task; more wait to be accepted.
const QUEUE: usize = 64;
/// The longest wait for a token: a renewal, or the end of a takeover.
const PATIENCE: Duration = Duration::from_secs(25);
/// How long a gateway without the write lease waits for another one to store a token.
const TAKEOVER_PATIENCE: Duration = Duration::from_secs(10);
const TAKEOVER_CHECK: Duration = Duration::from_millis(200);
/// A token that is refused this soon after it was issued is not renewed: another one would be refused
/// too.
const FRESH: Duration = Duration::from_secs(5);
/// How often the wall clock is checked, because timers stop while the machine sleeps.
const CHECK_INTERVAL: Duration = Duration::from_secs(30);

impl GrantHandle {
    pub(super) fn new(shared: Arc<GrantShared>) -> Self {
        Self(shared)
    }

    /// An access token that can be sent now.
    pub(crate) async fn token(&self) -> Result<AccessToken, Failure> {
        match &*self.0.state.borrow() {
            GrantState::Usable(token) if !token.lifetime.is_over(self.0.clock.now()) => {
                return Ok(token.clone());
            }
            GrantState::Refused(failure) => return Err(failure.clone()),
            GrantState::Usable(_) | GrantState::Unread => {}
        }
        self.request_token(None).await
    }

    /// Another access token than the one that was refused.
    pub(crate) async fn another(&self, refused: &AccessToken) -> Result<AccessToken, Failure> {
        self.request_token(Some(refused.number)).await
    }

    /// Why a call was refused, if the user must permit more for it. The next sign-in asks for that.
    pub(crate) fn lacks_scope(&self, headers: &HeaderMap) -> Option<Failure> {
        let server = self.0.server.borrow().clone();
        let scopes = self.0.lacking.add_from(headers, &server.url)?;
        Some(failures::lacks_scope(&server, &scopes))
    }

    /// The scopes that calls lacked since the last sign-in.
    pub(super) fn lacking(&self) -> Vec<String> {
        self.0.lacking.all()
    }

    /// Uses and stores what the user permitted.
    pub(super) async fn signed_in(&self, grant: StoredGrant) -> Result<(), Failure> {
        let grant = Box::new(grant);
        self.request(|reply| GrantRequest::SignedIn { grant, reply }).await??;
        self.0.lacking.clear();
        Ok(())
    }

    /// Forgets the grant, and returns it.
    pub(super) async fn sign_out(&self) -> Result<Option<StoredGrant>, Failure> {
        self.request(|reply| GrantRequest::SignOut { reply }).await?
    }

    /// The server is reached in another way, or has another name.
    pub(super) fn reach_by(&self, server: ProtectedServer) {
        self.0.server.send_if_modified(|current| {
            let changed = *current != server;
            *current = server;
            changed
        });
    }

    async fn request_token(&self, refused: Option<u64>) -> Result<AccessToken, Failure> {
        self.request(|reply| GrantRequest::Token { refused, reply }).await?
    }

    async fn request<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<T>) -> GrantRequest,
    ) -> Result<T, Failure> {
        let (reply, replied) = oneshot::channel();
        let asking = async {
            self.0.requests.send(request(reply)).await.ok()?;
            replied.await.ok()
        };
        timeout(PATIENCE, asking).await.ok().flatten().ok_or_else(failures::stopped)
    }
}

impl GrantShared {
    /// The account that is signed in, if it is known.
    pub(super) fn account(&self) -> Option<String> {
        match &*self.state.borrow() {
            GrantState::Usable(token) => token.account.as_deref().map(str::to_owned),
            GrantState::Refused(_) | GrantState::Unread => None,
        }
    }
}

impl GrantTask {
    pub(super) fn new(
        key: GrantKey,
        server: ProtectedServer,
        context: GrantContext,
    ) -> (Self, GrantShared) {
        let (show, state) = watch::channel(GrantState::Unread);
        let (requests, asked) = mpsc::channel(QUEUE);
        let (reached, changes) = watch::channel(server.clone());
        let shared = GrantShared {
            state,
            requests,
            clock: context.clock.clone(),
            server: reached,
            lacking: LackingScopes::default(),
        };
        let task = Self {
            key,
            server,
            changes,
            grant: None,
            number: 0,
            client: None,
            failed: None,
            show,
            requests: asked,
            context,
        };
        (task, shared)
    }

    /// Runs until nobody holds a handle.
    pub(super) async fn run(mut self) {
        // A failure is reported to the first who wants a token.
        let _ = self.read().await;
        loop {
            let wait = self.until_next_renewal();
            tokio::select! {
                biased;
                Ok(()) = self.changes.changed() => self.reach(),
                request = self.requests.recv() => match request {
                    Some(request) => self.answer(request).await,
                    None => return,
                },
                Ok(()) = self.context.wakes.changed() => {}
                () = sleep(wait.min(CHECK_INTERVAL)) => self.renew_ahead().await,
            }
        }
    }

    async fn answer(&mut self, request: GrantRequest) {
        match request {
            GrantRequest::Token { refused, reply } => {
                let token = self.token(refused).await;
                let _ = reply.send(token);
            }
            GrantRequest::SignedIn { grant, reply } => {
                let stored = self.store(&grant).await;
                if stored.is_ok() {
                    grant.hide();
                    self.client = None;
                    self.failed = None;
                    self.adopt(*grant);
                }
                let _ = reply.send(stored);
            }
            GrantRequest::SignOut { reply } => {
                let removed = self.forget().await;
                let _ = reply.send(removed);
            }
        }
    }

    /// Reaches the server as the configuration says now.
    fn reach(&mut self) {
        self.server = self.changes.borrow_and_update().clone();
        self.client = None;
        self.failed = None;
        // What was refused may be permitted now.
        self.show.send_if_modified(|state| {
            let refused = matches!(state, GrantState::Refused(_));
            if refused {
                *state = GrantState::Unread;
            }
            refused
        });
    }

    /// A token that can be sent, and that is not the refused one.
    async fn token(&mut self, refused: Option<u64>) -> Result<AccessToken, Failure> {
        let now = self.context.clock.now();
        let usable = |task: &Self, refused: Option<u64>| match &*task.show.borrow() {
            GrantState::Usable(token) => {
                let good = !token.lifetime.is_over(now) && Some(token.number) != refused;
                good.then(|| token.clone())
            }
            GrantState::Refused(_) | GrantState::Unread => None,
        };
        if let Some(token) = usable(self, refused) {
            return Ok(token);
        }
        if self.grant.is_none() {
            self.read().await?;
            if let Some(token) = usable(self, refused) {
                return Ok(token);
            }
        }
        if let Some(failed) = &self.failed
            && failed.at.elapsed() < retry_wait(failed.times)
        {
            return Err(failed.failure.clone());
        }
        let age = self.grant.as_ref().and_then(|grant| grant.token(0));
        let age = age.map(|token| now.duration_since(token.lifetime.received).unwrap_or_default());
        if refused.is_some() && age.is_some_and(|age| age < FRESH) && self.number > 1 {
            return Err(failures::token_refused(&self.server));
        }
        self.renew().await
    }

    /// Renews the token, unless the store has a newer one.
    async fn renew(&mut self) -> Result<AccessToken, Failure> {
        let failure = match self.try_renew().await {
            Ok(token) => {
                self.failed = None;
                return Ok(token);
            }
            Err(RenewalError::Refused(failure)) if self.server.oauth.grant.needs_a_person() => {
                return Err(self.refuse(failure));
            }
            Err(RenewalError::Rejected) => {
                return Err(self.refuse(failures::sign_in_ended(&self.server)));
            }
            // A client with a secret of its own needs no sign-in, only another secret.
            Err(RenewalError::Unavailable(failure) | RenewalError::Refused(failure)) => failure,
        };
        let times = self.failed.as_ref().map_or(0, |failed| failed.times) + 1;
        tracing::info!(upstream = %self.server.name, %failure, times, "a token was not renewed");
        self.failed = Some(FailedRenewal { at: Instant::now(), times, failure: failure.clone() });
        Err(failure)
    }

    async fn try_renew(&mut self) -> Result<AccessToken, RenewalError> {
        if let Some(token) = self.stored_since().await? {
            return Ok(token);
        }
        if !self.context.lease.is_held()
            && let Some(token) = self.await_takeover().await?
        {
            return Ok(token);
        }
        match self.renew_once().await {
            Ok(grant) => {
                self.adopt(grant);
                self.current().map_err(RenewalError::Refused)
            }
            // Perhaps another process renewed it with the same refresh token.
            Err(RenewalError::Rejected) => self.stored_since().await?.ok_or(RenewalError::Rejected),
            Err(error) => Err(error),
        }
    }

    async fn renew_once(&mut self) -> Result<StoredGrant, RenewalError> {
        let needs_a_person = self.server.oauth.grant.needs_a_person();
        match &self.grant {
            None if needs_a_person => {
                return Err(RenewalError::Refused(failures::signed_out(&self.server)));
            }
            Some(grant) if needs_a_person && !grant.can_be_renewed() => {
                return Err(RenewalError::Refused(failures::sign_in_ended(&self.server)));
            }
            Some(_) | None => {}
        }
        let client = match self.client.take() {
            Some(client) => client,
            None => {
                RenewalClient::new(&self.server, self.grant.clone(), &self.key, &self.context)
                    .await?
            }
        };
        let renewed = client.renew(&self.server, self.grant.clone()).await;
        // After a failure the authorization server is asked about itself again.
        self.client = renewed.is_ok().then_some(client);
        renewed
    }

    /// The token in the store, if it is another one than ours and can be sent.
    async fn stored_since(&mut self) -> Result<Option<AccessToken>, RenewalError> {
        // What is in the store is older than what could not be stored.
        if let Some(client) = &self.client
            && !client.save_again().await
        {
            return Ok(None);
        }
        let stored = self.context.store.load(&self.key).await;
        let Some(stored) = stored.map_err(RenewalError::Unavailable)? else { return Ok(None) };
        if self.grant.as_ref().is_some_and(|grant| grant.has_token_of(&stored)) {
            return Ok(None);
        }
        self.client = None;
        self.adopt(stored);
        let token = self.current().map_err(RenewalError::Refused)?;
        Ok((!token.lifetime.is_over(self.context.clock.now())).then_some(token))
    }

    /// Waits until this gateway holds the write lease, or the other one has stored a token.
    async fn await_takeover(&mut self) -> Result<Option<AccessToken>, RenewalError> {
        let began = Instant::now();
        while !self.context.lease.is_held() {
            if began.elapsed() >= TAKEOVER_PATIENCE {
                return Err(RenewalError::Unavailable(failures::taken_over(&self.server)));
            }
            sleep(TAKEOVER_CHECK).await;
            if let Some(token) = self.stored_since().await? {
                return Ok(Some(token));
            }
        }
        self.stored_since().await
    }

    /// Renews the token if it expires soon, and stores what could not be stored.
    async fn renew_ahead(&mut self) {
        if let Some(client) = &self.client {
            client.save_again().await;
        }
        if self.until_next_renewal().is_zero() {
            // If it fails, the next attempt is made later.
            let _ = self.renew().await;
        }
    }

    /// How long the token need not be renewed by this gateway.
    fn until_next_renewal(&self) -> Duration {
        let is_usable = matches!(*self.show.borrow(), GrantState::Usable(_));
        if !is_usable || !self.context.lease.is_held() {
            return Duration::MAX;
        }
        let token = self.grant.as_ref().and_then(|grant| grant.token(0));
        let can_be_renewed = self.server.oauth.grant == Grant::ClientCredentials
            || self.grant.as_ref().is_some_and(StoredGrant::can_be_renewed);
        let due = token.filter(|_| can_be_renewed).and_then(|token| token.lifetime.renew_at());
        let Some(due) = due else { return Duration::MAX };
        let wait = due.duration_since(self.context.clock.now()).unwrap_or_default();
        match &self.failed {
            Some(failed) => wait.max(retry_wait(failed.times).saturating_sub(failed.at.elapsed())),
            None => wait,
        }
    }

    /// Reads the grant from the store.
    async fn read(&mut self) -> Result<(), Failure> {
        match self.context.store.load(&self.key).await? {
            Some(grant) => self.adopt(grant),
            None if self.server.oauth.grant.needs_a_person() => {
                self.show.send_replace(GrantState::Refused(failures::signed_out(&self.server)));
                return Err(failures::signed_out(&self.server));
            }
            None => {}
        }
        Ok(())
    }

    async fn store(&self, grant: &StoredGrant) -> Result<(), Failure> {
        let guard = self.context.lease.take_long().await;
        let _guard = guard.ok_or_else(|| failures::taken_over(&self.server))?;
        self.context.store.save(&self.key, grant).await
    }

    async fn forget(&mut self) -> Result<Option<StoredGrant>, Failure> {
        let guard = self.context.lease.take_long().await;
        let _guard = guard.ok_or_else(|| failures::taken_over(&self.server))?;
        let stored = self.context.store.load(&self.key).await?;
        self.context.store.remove(&self.key).await?;
        self.client = None;
        self.failed = None;
        let grant = stored.or(self.grant.take());
        self.grant = None;
        self.refuse(failures::signed_out(&self.server));
        Ok(grant)
    }

    fn adopt(&mut self, grant: StoredGrant) {
        self.number += 1;
        let state = match grant.token(self.number) {
            Some(token) => GrantState::Usable(token),
            None => GrantState::Refused(failures::sign_in_ended(&self.server)),
        };
        self.grant = Some(grant);
        self.show.send_replace(state);
    }

    fn current(&self) -> Result<AccessToken, Failure> {
        match &*self.show.borrow() {
            GrantState::Usable(token) => Ok(token.clone()),
            GrantState::Refused(failure) => Err(failure.clone()),
            GrantState::Unread => Err(failures::signed_out(&self.server)),
        }
    }

    fn refuse(&mut self, failure: Failure) -> Failure {
        tracing::warn!(upstream = %self.server.name, %failure, "a sign-in is needed");
        self.show.send_replace(GrantState::Refused(failure.clone()));
        failure
    }
}
