//! The end of a gateway, after SIGTERM, `evermoor stop` or a handover: calls in flight finish first.
//!
//! A stopped gateway ends within ten seconds, with every process that it started. Service managers kill
//! what takes longer, and then nobody would know what became of the calls. After a handover calls have
//! two minutes, because another gateway already serves the editors.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_platform::paths::Paths;
use evermoor_platform::process::child::tree::{STDIN_CLOSED_TIMEOUT, TERMINATE_TIMEOUT};

use crate::lifecycle::assembly::Assembly;
use crate::lifecycle::handover;
use crate::lifecycle::handover::SuccessorLine;
use crate::upstream::transport::stdio;

/// How long calls in flight may take when the gateway is stopped.
const DRAIN: Duration = stdio::DRAIN_LIMIT;
/// How long they may take when another gateway already serves.
const HANDOVER_DRAIN: Duration = Duration::from_secs(120);
/// How long the shutdown may take once no call is in flight. A child process may need all of it.
pub(super) const TIMEOUT: Duration = STDIN_CLOSED_TIMEOUT.saturating_add(TERMINATE_TIMEOUT);

/// Lets calls in flight finish, then ends everything. The listener is closed already.
pub(super) async fn stop(assembly: Assembly, paths: &Paths) {
    if timeout(DRAIN, assembly.answered()).await.is_err() {
        assembly.give_up().await;
    }
    assembly.ended(TIMEOUT).await;
    let _ = std::fs::remove_file(paths.runtime_file());
}

/// Finishes the calls in flight after another gateway has taken over.
pub(super) async fn after_handover(
    mut assembly: Assembly,
    successor: SuccessorLine,
    stop: CancellationToken,
) {
    let (done, handover_task) = (CancellationToken::new(), TaskTracker::new());
    let queued = std::mem::replace(&mut assembly.queued_handover_items, mpsc::channel(1).1);
    let endpoint = Arc::clone(&assembly.endpoint);
    handover_task.spawn(handover::attend(successor, queued, endpoint, done.clone()));
    handover_task.close();
    assembly.moved.cancel();
    let stopped = async {
        stop.cancelled().await;
        sleep(DRAIN).await;
    };
    tokio::select! {
        () = assembly.answered() => {}
        () = stopped => assembly.give_up().await,
        () = sleep(HANDOVER_DRAIN) => assembly.give_up().await,
    }
    done.cancel();
    let _ = timeout(TIMEOUT, handover_task.wait()).await;
    stop.cancel();
    assembly.ended(TIMEOUT).await;
    tracing::info!("all calls are finished; the handover is complete");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::assembly::LAST_ANSWERS_TIMEOUT;

    #[test]
    fn a_gateway_that_is_stopped_ends_within_ten_seconds() {
        assert!(DRAIN + LAST_ANSWERS_TIMEOUT + TIMEOUT <= Duration::from_secs(10));
    }
}
