//! Access to upstreams that want a sign-in: OAuth 2.1, as MCP uses it.
//!
//! # Theory of operation
//! A *grant* is what the user (or a client secret) permits Evermoor to do at one server. All editors,
//! connections and reconnects share it. One task owns each grant ([`grant`]): it is the only one that
//! renews its access token, so no two requests race for a rotating refresh token. Everyone else holds a
//! [`GrantHandle`]: a `watch` with the header of the current token, which is all that a call touches.
//!
//! A request that is answered with 401 was not executed. `transport::http::client` asks the task for
//! another token and sends the request once more. Several requests that were refused with the same token
//! cause one renewal. Only the gateway that holds the write lease renews, and a rotated token is stored
//! before it is used, unless the store cannot be written: then it is used, and written later. If the
//! process dies between receiving and storing it, the user must sign in again: no order of steps avoids
//! that, because the old token is void as soon as the server has answered.
//!
//! Only the user ends a grant, or the authorization server by refusing the refresh token. A network
//! error never does.
//!
//! The protocol is rmcp's: discovery, registration, PKCE, issuer and resource checks, refresh.
//!
//! # Layout
//! - [`grant`]: the task that owns a grant; [`renewal`]: how its token is renewed
//! - [`lacking_scopes`]: what a call was refused for
//! - [`grant_store`]: where grants are kept; [`stored_grant`]: what is kept
//! - [`sign_in`]: sign-ins that wait for the user; [`device_flow`]: those with a code;
//!   [`client_identity`]: as which client; [`revocation`]: the end of a grant
//! - [`reconnect`]: reconnects upstreams when a sign-in has changed
//! - [`pending_secrets`]: what is hidden while a sign-in waits
//! - [`account`]: whose sign-in it is
//! - [`client_assertion`]: a client with a private key
//! - [`authorization_server`]: finds the authorization server of a server
//! - [`oauth_http`]: its requests, with the certificates and the proxy of the upstream
//! - [`failures`]: what people are told

mod account;
mod authorization_server;
mod client_assertion;
mod client_identity;
mod device_flow;
mod failures;
mod grant;
pub(crate) mod grant_store;
mod lacking_scopes;
mod oauth_http;
mod pending_secrets;
pub(crate) mod reconnect;
mod renewal;
mod revocation;
pub(crate) mod sign_in;
mod stored_grant;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use url::Url;

use evermoor_core::config::{HttpOptions, OAuthOptions, TransportConfig, UpstreamConfig};

use crate::config::secrets::Secrets;
use crate::system::clock::ClockAndRandom;
use crate::system::write_lease::WriteLease;
pub(crate) use grant::GrantHandle;
use grant::{GrantShared, GrantTask};
use grant_store::GrantStore;
pub(crate) use stored_grant::AccessToken;
use stored_grant::GrantKey;

/// The grants that upstreams of this gateway use.
#[derive(Clone)]
pub struct Grants(Arc<GrantsState>);

struct GrantsState {
    by_key: Mutex<HashMap<GrantKey, Weak<GrantShared>>>,
    context: GrantContext,
}

/// What the grants of a gateway share.
#[derive(Clone)]
pub(crate) struct GrantContext {
    pub(crate) secrets: Secrets,
    pub(crate) store: GrantStore,
    pub(crate) lease: WriteLease,
    pub(crate) clock: ClockAndRandom,
    /// Counts how often the machine woke up.
    pub(crate) wakes: watch::Receiver<u64>,
    pub(crate) tasks: TaskTracker,
    pub(crate) stop: CancellationToken,
}

/// A server that wants a sign-in, and how it is reached.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ProtectedServer {
    /// The name and the title of an upstream, for texts.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) url: Url,
    pub(crate) local: bool,
    pub(crate) reach: HttpOptions,
    pub(crate) oauth: OAuthOptions,
}

impl Grants {
    pub(crate) fn new(context: GrantContext) -> Self {
        Self(Arc::new(GrantsState { by_key: Mutex::default(), context }))
    }

    /// The grant for a server. Its task runs as long as a handle exists.
    pub(crate) fn of(&self, server: ProtectedServer) -> GrantHandle {
        let key = GrantKey::of(&server);
        let mut by_key = self.0.by_key.lock();
        if let Some(running) = by_key.get(&key).and_then(Weak::upgrade) {
            let handle = GrantHandle::new(running);
            handle.reach_by(server);
            return handle;
        }
        by_key.retain(|_, grant| grant.strong_count() > 0);
        let context = self.0.context.clone();
        let (task, shared) = GrantTask::new(key.clone(), server, context.clone());
        let shared = Arc::new(shared);
        by_key.insert(key, Arc::downgrade(&shared));
        let running = context.stop.run_until_cancelled_owned(task.run());
        context.tasks.spawn(running);
        GrantHandle::new(shared)
    }

    /// The account that the user signed in with at a server, if it is known.
    pub(crate) fn account(&self, server: &ProtectedServer) -> Option<String> {
        let running = self.0.by_key.lock().get(&GrantKey::of(server)).and_then(Weak::upgrade);
        running.and_then(|grant| grant.account())
    }

    /// Keeps grants in the file that the configuration names, or in the keychain.
    pub(crate) fn keep_in(&self, file: Option<&str>) {
        self.0.context.store.keep_in(file);
    }

    fn context(&self) -> &GrantContext {
        &self.0.context
    }
}

impl ProtectedServer {
    /// Whether one grant permits access to both.
    pub(crate) fn shares_grant(&self, other: &Self) -> bool {
        GrantKey::of(self) == GrantKey::of(other)
    }

    /// The server of an upstream, if it wants a sign-in.
    pub(crate) fn of(config: &UpstreamConfig) -> Option<Self> {
        let TransportConfig::Http { url, reach } = &config.transport else { return None };
        let oauth = *reach.oauth.clone()?;
        Some(Self {
            name: config.name.to_string(),
            title: config.title.clone(),
            // `auth` is refused for an address that contains a secret.
            url: url.placeholder().clone(),
            local: config.transport.is_local(),
            reach: reach.clone(),
            oauth,
        })
    }
}
