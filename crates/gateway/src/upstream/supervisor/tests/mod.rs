//! Real supervisors with connectors of the tests, on a paused clock.
//!
//! - `wake`: the machine wakes up
//! - `desired_state`: what is wanted changes while a server answers slowly or not at all
//! - `hanging`: a server accepts calls and answers none of them, or is only busy
//! - `unavailable`: what editors get while a server is slow, stalled or away
//! - `server`: a server in memory

mod desired_state;
mod hanging;
mod server;
mod unavailable;
mod wake;

use super::*;
use crate::upstream::transport::connection::Connected;
use crate::upstream::{UpstreamContext, UpstreamHandle};
use evermoor_core::config::Config;
use evermoor_core::failure::Code;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

/// Panics at its first attempts, then refuses.
struct Panics(u32);

impl Connect for Panics {
    async fn connect(&mut self) -> Result<Connected, Failure> {
        self.0 = self.0.saturating_sub(1);
        assert_eq!(self.0, 0, "a bug");
        Err(Failure::new(Code::ConnectionRefused, "Connection refused.", "Wait."))
    }
}

/// An upstream that connects like this.
fn start(connector: impl Connect) -> UpstreamHandle {
    let config = Config::default();
    let context = context(&config, TaskTracker::new(), ClockAndRandom::real());
    let upstream = config.upstreams[0].clone();
    UpstreamHandle::start_with(upstream, connector, None, &context, CancellationToken::new())
}

/// What a supervisor needs from a gateway that has nothing else.
fn context(config: &Config, tasks: TaskTracker, clock: ClockAndRandom) -> UpstreamContext {
    UpstreamContext {
        settings: watch::channel(config.gateway.clone()).1,
        changed: Arc::default(),
        wakes: watch::channel(0).1,
        clock,
        tasks,
        notification_log: crate::upstream::notification_log::NotificationLog::default(),
        upstream_subscriptions: crate::upstream::subscriptions::Subscriptions::default(),
        history: crate::history::History::disabled(),
        apps: Default::default(),
        secrets: crate::config::secrets::Secrets::system_default(),
        sign_ins: crate::upstream::SignIns::unused(),
        budgets: Default::default(),
    }
}

impl UpstreamHandle {
    /// An upstream that refuses every attempt.
    pub(crate) fn never_connected() -> Self {
        start(Panics(0))
    }
}

#[tokio::test(start_paused = true)]
async fn a_supervisor_that_panics_starts_over() {
    let handle = start(Panics(3));
    let mut state = handle.state.clone();
    for wanted in [Code::Internal, Code::ConnectionRefused] {
        let shown = state.wait_for(
            |state| matches!(&state.link, LinkState::Down { failure, .. } if failure.code == wanted),
        );
        shown.await.expect("the supervisor runs on");
    }
}
