//! Measures how long a gateway does nothing but one thing, so that everybody else waits.
//!
//! # Theory of operation
//! One thread of the gateway serves everybody. A ping, which the gateway itself answers, is sent again and
//! again; what that thread works from a ping to its answer is the time for which a client waits for it. This is
//! CPU time, so it does not count when the thread waits for a processor on a busy machine.
//!
//! The thread may go on working after the answer, until the meter notices that. How long the meter itself
//! waited for a processor is subtracted, so the result is never too large. It is too small only for the pings
//! during which the meter waited, and there are many others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::json;

use super::measure::{first_thread, own_delay};
use crate::editor::Editor;
use crate::gateway::Gateway;

/// Pings a gateway until it is dropped or asked for the result.
pub struct StallMeter {
    ended: Arc<AtomicBool>,
    measuring: Option<JoinHandle<Vec<Duration>>>,
}

/// How long the meter pauses between two pings. A stall that begins in a pause is measured without that part.
const PAUSE: Duration = Duration::from_millis(2);

impl StallMeter {
    /// Begins to measure. The meter has a thread of its own, so that it does not wait for the test.
    pub fn start(gateway: &Gateway) -> Self {
        let ended = Arc::new(AtomicBool::new(false));
        let (origin, token, pid) = (gateway.origin.clone(), gateway.token(), gateway.process.pid());
        let until = Arc::clone(&ended);
        let measure = move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.expect("a runtime can be made");
            runtime.block_on(async {
                let mut editor = Editor::over_http(&origin, "/mcp", &token).await;
                let mut stalls = Vec::new();
                while !until.load(Ordering::Relaxed) {
                    stalls.extend(stall(&mut editor, pid).await);
                    tokio::time::sleep(PAUSE).await;
                }
                stalls.sort_unstable();
                stalls
            })
        };
        let thread = std::thread::Builder::new().name("stall meter".into());
        let measuring = thread.spawn(measure).expect("a thread can be started");
        Self { ended, measuring: Some(measuring) }
    }

    /// Every stall, in ascending order; empty where the system does not tell.
    pub async fn stalls(mut self) -> Vec<Duration> {
        self.ended.store(true, Ordering::Relaxed);
        let measuring = self.measuring.take().expect("it is taken only here");
        let measured = tokio::task::spawn_blocking(|| measuring.join());
        measured.await.expect("waiting does not fail").expect("every ping is answered")
    }
}

impl Drop for StallMeter {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// How long the gateway worked from a ping to its answer.
async fn stall(editor: &mut Editor, pid: u32) -> Option<Duration> {
    let (before, waited) = (first_thread(pid)?, own_delay()?);
    editor.ask("ping", &json!({})).await;
    let waited = own_delay()?.saturating_sub(waited);
    Some(first_thread(pid)?.saturating_sub(before).saturating_sub(waited))
}
