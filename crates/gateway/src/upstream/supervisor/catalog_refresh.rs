//! Reads the catalog again after `list_changed`, while the connection is served.

use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep_until};

use evermoor_core::catalog::Catalog;
use evermoor_core::catalog::limits::CatalogLimits;
use evermoor_core::failure::Failure;

use super::read_catalog;
use crate::upstream::{KnownCatalog, LiveConnection};

/// A burst of `list_changed` notifications within this time causes one read.
const REFRESH_DELAY: Duration = Duration::from_millis(100);

pub(super) struct CatalogRefresh {
    ready: Arc<LiveConnection>,
    /// The catalog that was read when the connection was made.
    first: Arc<KnownCatalog>,
    pending: Option<PendingRead>,
    /// The lists changed after the pending read began, so it may have missed the change. The limits of the
    /// next read.
    outdated: Option<CatalogLimits>,
}

struct PendingRead {
    begins: Instant,
    result: BoxFuture<'static, Result<Catalog, Failure>>,
}

impl CatalogRefresh {
    pub(super) fn new(ready: &Arc<LiveConnection>, first: &Arc<KnownCatalog>) -> Self {
        let (ready, first) = (Arc::clone(ready), Arc::clone(first));
        Self { ready, first, pending: None, outdated: None }
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
        self.pending = self.outdated.take().map(|limits| self.begin(limits));
        let KnownCatalog { handshake, transport, .. } = &*self.first;
        result.map(|catalog| KnownCatalog::new(handshake.clone(), catalog, *transport))
    }

    fn begin(&self, limits: CatalogLimits) -> PendingRead {
        let (ready, first) = (Arc::clone(&self.ready), Arc::clone(&self.first));
        let begins = Instant::now() + REFRESH_DELAY;
        let result = async move {
            sleep_until(begins).await;
            read_catalog::catalog(&ready.connection, &first.handshake, limits).await
        };
        PendingRead { begins, result: result.boxed() }
    }
}
