//! Waiting for what announces nothing: files, processes, and lists that the control API returns.

use std::time::Duration;

use tokio::time::{sleep, timeout};

use crate::PATIENCE;

/// Polls until it has happened.
pub async fn until(what: &str, mut happened: impl FnMut() -> bool) {
    until_some(what, async || happened().then_some(())).await;
}

/// Polls until there is a value.
pub async fn until_some<T>(what: &str, mut look: impl AsyncFnMut() -> Option<T>) -> T {
    let looking = async {
        loop {
            if let Some(found) = look().await {
                return found;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    timeout(PATIENCE, looking).await.unwrap_or_else(|_| panic!("not seen in time: {what}"))
}
