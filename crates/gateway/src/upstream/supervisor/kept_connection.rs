//! A connection whose calls were given up, kept open in case the upstream was only busy.
//!
//! Nothing more is sent on it. If it answers after all, the upstream does one thing at a time, and its
//! calls are not given up again. A process that was stopped proves nothing when it goes on.

use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use super::keepalive::{OpenPing, observe};
use crate::upstream::LiveConnection;
use crate::upstream::transport::live_connection::LateCall;

pub(super) struct KeptConnection {
    pub(super) ready: Arc<LiveConnection>,
    pub(super) pings: FuturesUnordered<OpenPing>,
    /// The calls that were given up.
    pub(super) late_calls: mpsc::Receiver<LateCall>,
    pub(super) observed: Arc<watch::Sender<Option<bool>>>,
}

impl KeptConnection {
    /// Waits until everything is answered, at most for `limit`, and closes the connection.
    pub(super) async fn run(mut self, limit: Duration) {
        let _ = timeout(limit, self.wait()).await;
        self.ready.connection.close().await;
    }

    async fn wait(&mut self) {
        let was_stopped = self.ready.connection.is_stopped().await;
        let mut calls = FuturesUnordered::new();
        loop {
            let answered = tokio::select! {
                biased;
                Some(call) = self.late_calls.recv() => {
                    calls.push(call);
                    false
                }
                Some(answered) = calls.next() => answered,
                Some(end) = self.pings.next() => end.is_ok(),
                else => return,
            };
            if answered && !was_stopped {
                observe(&self.observed, false);
            }
            if answered && calls.is_empty() && self.pings.is_empty() {
                return;
            }
        }
    }
}
