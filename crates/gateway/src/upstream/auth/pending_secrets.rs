//! The secrets of a sign-in that waits for the user: its code verifier, and the code that the browser
//! brings back. They are hidden wherever something is shown or logged until the sign-in has ended. The
//! state is not one of them: it is in the address that the user opens.

use std::sync::Arc;

use async_trait::async_trait;
use parking_lot::Mutex;
use rmcp::transport::auth::{AuthError, InMemoryStateStore, StateStore, StoredAuthorizationState};

use evermoor_core::security::redaction::known::Secret;

use crate::system::redaction;

/// What is hidden as long as a copy of this lives.
#[derive(Clone, Default)]
pub(super) struct PendingSecrets(Arc<UnhideOnDrop>);

#[derive(Default)]
struct UnhideOnDrop(Mutex<Vec<Secret>>);

/// rmcp's store of states, which hides the code verifiers in it.
pub(super) struct HidingStateStore {
    states: InMemoryStateStore,
    secrets: PendingSecrets,
}

impl PendingSecrets {
    pub(super) fn hide(&self, secret: &str) {
        let secret = Secret::new(secret.to_owned());
        redaction::hide(&secret);
        self.0.0.lock().push(secret);
    }

    /// A store whose verifiers are hidden as well.
    pub(super) fn state_store(&self) -> HidingStateStore {
        HidingStateStore { states: InMemoryStateStore::new(), secrets: self.clone() }
    }
}

impl Drop for UnhideOnDrop {
    fn drop(&mut self) {
        self.0.get_mut().iter().for_each(redaction::forget);
    }
}

#[async_trait]
impl StateStore for HidingStateStore {
    async fn save(&self, state: &str, stored: StoredAuthorizationState) -> Result<(), AuthError> {
        self.secrets.hide(&stored.pkce_verifier);
        self.states.save(state, stored).await
    }

    async fn load(&self, state: &str) -> Result<Option<StoredAuthorizationState>, AuthError> {
        self.states.load(state).await
    }

    async fn delete(&self, state: &str) -> Result<(), AuthError> {
        self.states.delete(state).await
    }
}
