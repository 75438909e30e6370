//! Watches whether the user paused one upstream.

use tokio::sync::watch;

use evermoor_core::catalog::naming::UpstreamName;
use evermoor_core::policy::pause::PausedUpstreams;

pub(crate) struct PauseWatch {
    pub(crate) paused: watch::Receiver<PausedUpstreams>,
    pub(crate) upstream: UpstreamName,
}

impl PauseWatch {
    pub(crate) fn is_paused(&self) -> bool {
        self.paused.borrow().is(self.upstream.as_str())
    }

    /// Waits until it is paused, or until it is not.
    pub(super) async fn until(&mut self, wanted: bool) {
        let upstream = self.upstream.as_str();
        if self.paused.wait_for(|paused| paused.is(upstream) == wanted).await.is_err() {
            // The sender is gone, so the value can no longer change.
            std::future::pending().await
        }
    }
}
