//! Reads the catalog again after `list_changed`, while the connection is served.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use evermoor_core::catalog::limits::CatalogLimits;
use evermoor_core::failure::Failure;

use super::read_catalog;
use crate::upstream::{KnownCatalog, LiveConnection};

/// A burst of `list_changed` notifications within this time causes one read.
const REFRESH_DELAY: Duration = Duration::from_millis(100);
/// A server whose lists keep changing is left alone for this many times as long as a read takes, so that
/// reading, merging and storing large lists does not keep the gateway busy.
const PAUSE_FACTOR: u32 = 4;
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

pub(super) struct CatalogRefresh {
    ready: Arc<LiveConnection>,
    /// The catalog that was read when the connection was made.
    first: Arc<KnownCatalog>,
    pending: Option<PendingRead>,
    /// The next read does not begin earlier.
    not_before: Instant,
    /// The lists changed after the pending read began, so it may have missed the change. The limits of the
    /// next read.
    outdated: Option<CatalogLimits>,
}

struct PendingRead {
    begins: Instant,
    result: BoxFuture<'static, Result<KnownCatalog, Failure>>,
}

impl CatalogRefresh {
    pub(super) fn new(ready: &Arc<LiveConnection>, first: &Arc<KnownCatalog>) -> Self {
        let (ready, first) = (Arc::clone(ready), Arc::clone(first));
        Self { ready, first, pending: None, not_before: Instant::now(), outdated: None }
    }

    /// The lists of the server have changed.
    pub(super) fn request(&mut self, limits: CatalogLimits) {
        match &self.pending {
            Some(pending) if pending.begins <= Instant::now() => self.outdated = Some(limits),
            Some(_) => {}
            None => self.pending = Some(self.begin(limits)),
        }
    }

    pub(super) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// The result of the next read; pending while none is requested. Cancel-safe.
    pub(super) async fn next(&mut self) -> Result<KnownCatalog, Failure> {
        let Some(pending) = &mut self.pending else { return std::future::pending().await };
        let result = (&mut pending.result).await;
        self.not_before = Instant::now() + pause_after(pending.begins.elapsed());
        self.pending = self.outdated.take().map(|limits| self.begin(limits));
        result
    }

    fn begin(&self, limits: CatalogLimits) -> PendingRead {
        let (ready, first) = (Arc::clone(&self.ready), Arc::clone(&self.first));
        let begins = (Instant::now() + REFRESH_DELAY).max(self.not_before);
        let result = async move {
            sleep_until(begins).await;
            let KnownCatalog { handshake, transport, .. } = &*first;
            let handshake = handshake.clone();
            read_catalog::catalog(&ready.connection, handshake, *transport, limits).await
        };
        PendingRead { begins, result: result.boxed() }
    }
}

/// How long a server is left alone after a read that took so long.
fn pause_after(took: Duration) -> Duration {
    took.saturating_mul(PAUSE_FACTOR).min(LONGEST_PAUSE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_with_large_lists_is_left_alone_for_longer_but_not_for_long() {
        assert!(pause_after(Duration::from_millis(10)) < REFRESH_DELAY);
        assert_eq!(pause_after(Duration::from_millis(500)), Duration::from_secs(2));
        assert_eq!(pause_after(Duration::MAX), LONGEST_PAUSE);
    }
}
