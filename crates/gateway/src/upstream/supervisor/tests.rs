//! A supervisor whose connector panics or refuses.

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
    let context = UpstreamContext {
        settings: watch::channel(config.gateway.clone()).1,
        changed: Arc::default(),
        wakes: watch::channel(0).1,
        clock: ClockAndRandom::real(),
        tasks: TaskTracker::new(),
        notification_log: crate::upstream::notification_log::NotificationLog::default(),
        upstream_subscriptions: crate::upstream::subscriptions::Subscriptions::default(),
        history: crate::history::History::disabled(),
        paused: watch::channel(evermoor_core::policy::pause::PausedUpstreams::default()).1,
        apps: Default::default(),
        secrets: crate::config::secrets::Secrets::system_default(),
    };
    let upstream = config.upstreams[0].clone();
    UpstreamHandle::start_with(upstream, connector, None, &context, CancellationToken::new())
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
