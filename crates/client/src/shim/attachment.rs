//! The gateway that the shim is attached to: found or started when it is needed.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

use evermoor_core::failure::{Code, Failure};

use crate::http::{Http, HttpError};
use crate::launch::Launcher;
use crate::token;

/// How often a gateway is started that ends at once.
const BREATH: Duration = Duration::from_secs(1);

pub(super) struct Attached {
    launcher: Launcher,
    gateway: Mutex<Option<Http>>,
    /// When a gateway could last not be started, and why.
    failed: Mutex<Option<(Instant, Failure)>>,
}

impl Attached {
    pub(super) fn new(launcher: Launcher) -> Self {
        Self { launcher, gateway: Mutex::default(), failed: Mutex::default() }
    }

    /// The gateway, started if there is none. One that just could not be started is not tried again
    /// for every message.
    pub(super) async fn gateway(&self) -> Result<Http, HttpError> {
        if let Some(gateway) = self.gateway.lock().clone() {
            return Ok(gateway);
        }
        let failed = self.failed.lock().clone();
        let attached = match failed.filter(|(at, _)| at.elapsed() < BREATH) {
            Some((_, failure)) => self.launcher.serving().await.ok_or(failure),
            None => self.launcher.attach().await.inspect_err(|failure| {
                *self.failed.lock() = Some((Instant::now(), failure.clone()));
            }),
        };
        let control = attached.map_err(HttpError::NoGateway)?;
        let token = token::of(self.launcher.paths(), self.launcher.editor());
        let gateway = Http::new(&control.runtime().origin, &token);
        *self.gateway.lock() = Some(gateway.clone());
        Ok(gateway)
    }

    /// What was known of the gateway is not true any more.
    pub(super) fn lost(&self) {
        *self.gateway.lock() = None;
    }
}

/// Whether waiting is of no use before a person has done something.
pub(super) fn needs_a_person(failed: &HttpError) -> bool {
    let of = |failure: &Failure| matches!(failure.code, Code::Configuration | Code::PortTaken);
    matches!(failed, HttpError::NoGateway(failure) if of(failure))
}
