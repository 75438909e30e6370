//! Reconnects the upstreams whose sign-in has changed.

use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use super::ProtectedServer;
use crate::upstream::UpstreamHandle;

/// Reconnects every upstream that uses the grant of a server, for each server that arrives.
pub(crate) async fn follow(
    mut changed: mpsc::Receiver<ProtectedServer>,
    upstreams: watch::Receiver<Arc<[UpstreamHandle]>>,
) {
    while let Some(server) = changed.recv().await {
        let all = Arc::clone(&upstreams.borrow());
        for upstream in all.iter() {
            let own = ProtectedServer::of(&upstream.config);
            if own.is_some_and(|own| own.shares_grant(&server)) && !upstream.is_paused() {
                upstream.restart();
            }
        }
    }
}
