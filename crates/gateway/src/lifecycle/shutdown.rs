//! The end of a gateway, after SIGTERM, `evermoor stop` or a handover: calls in flight finish first.
//!
//! A stopped gateway gives calls ten seconds. After a handover they have two minutes, because another
//! gateway already serves the editors.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_platform::paths::Paths;

use crate::lifecycle::assembly::Assembly;
use crate::lifecycle::handover;
use crate::lifecycle::handover::SuccessorLine;

/// How long calls in flight may take when the gateway is stopped.
const DRAIN: Duration = Duration::from_secs(10);
/// How long they may take when another gateway already serves.
const HANDOVER_DRAIN: Duration = Duration::from_secs(120);
/// How long the shutdown may take once no call is in flight. A child process may need five seconds.
pub(super) const TIMEOUT: Duration = Duration::from_secs(6);

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
