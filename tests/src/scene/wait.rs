//! Waiting for files and processes.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::PATIENCE;

/// Polls, because files and processes announce nothing.
pub async fn until(what: &str, mut happened: impl FnMut() -> bool) {
    let looking = async {
        while !happened() {
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("not seen in time: {what}"));
}
