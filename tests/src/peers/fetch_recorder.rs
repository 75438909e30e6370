//! Records executions of a server that keeps no ledger: its tool fetches a file from here.

use std::net::SocketAddr;

use axum::Router;
use axum::extract::{Path, State};
use axum::routing::get;
use tokio::net::TcpListener;

use crate::oracle::ledger::Ledger;

/// Serves one file per nonce, and records each fetch in the ledger.
pub(super) struct FetchRecorder {
    address: SocketAddr,
}

impl FetchRecorder {
    pub(super) async fn start(ledger: Ledger) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port is free");
        let address = listener.local_addr().expect("it listens");
        let app = Router::new().route("/{nonce}", get(fetched)).with_state(ledger);
        #[expect(clippy::disallowed_methods, reason = "the runtime of the test ends it")]
        drop(tokio::spawn(async move { axum::serve(listener, app).await }));
        Self { address }
    }

    pub(super) fn url(&self, nonce: &str) -> String {
        format!("http://{}/{nonce}", self.address)
    }
}

async fn fetched(State(ledger): State<Ledger>, Path(nonce): Path<String>) -> String {
    ledger.record(&nonce);
    nonce
}
