//! The gateway that the shim is attached to. It is found or started when needed.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use evermoor_core::failure::{Code, Failure};

use crate::http::{HttpClient, HttpError};
use crate::launch::Launcher;
use crate::token;

/// The pause before starting a gateway again that exited at once.
const RETRY_DELAY: Duration = Duration::from_secs(1);

pub(super) struct Attachment {
    launcher: Launcher,
    gateway: Mutex<Option<HttpClient>>,
    /// When and why the last start failed.
    failed: Mutex<Option<(Instant, Failure)>>,
}

impl Attachment {
    pub(super) fn new(launcher: Launcher) -> Self {
        Self { launcher, gateway: Mutex::default(), failed: Mutex::default() }
    }

    /// The gateway, started if none is running. After a failed start, messages that follow within
    /// [`RETRY_DELAY`] do not start another one.
    pub(super) async fn gateway(&self) -> Result<HttpClient, HttpError> {
        if let Some(gateway) = self.gateway.lock().clone() {
            return Ok(gateway);
        }
        let failed = self.failed.lock().clone();
        let attached = match failed.filter(|(at, _)| at.elapsed() < RETRY_DELAY) {
            Some((_, failure)) => self.launcher.running().await.ok_or(failure),
            None => self.launcher.attach().await.inspect_err(|failure| {
                *self.failed.lock() = Some((Instant::now(), failure.clone()));
            }),
        };
        let control = attached.map_err(HttpError::NoGateway)?;
        let token = token::of(self.launcher.paths(), self.launcher.editor())
            .map_err(HttpError::NoGateway)?;
        let gateway = HttpClient::new(&control.runtime().origin, &token);
        *self.gateway.lock() = Some(gateway.clone());
        Ok(gateway)
    }

    /// Forgets the gateway, so that the next message finds or starts one.
    pub(super) fn lost(&self) {
        *self.gateway.lock() = None;
    }
}

/// Whether retrying is pointless until the user has fixed something.
pub(super) fn needs_user_action(error: &HttpError) -> bool {
    let permanent = |failure: &Failure| {
        matches!(failure.code, Code::Configuration | Code::PortTaken | Code::Forbidden)
    };
    matches!(error, HttpError::NoGateway(failure) if permanent(failure))
}
