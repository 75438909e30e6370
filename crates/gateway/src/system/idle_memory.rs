//! Returns memory to the system after a burst of requests.
//!
//! The allocator keeps what was freed, in case the next request needs it. After a burst of large messages
//! that is many times what the gateway needs at rest.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::sleep;

use evermoor_platform::process::memory;

/// Knows when requests were last made.
#[derive(Clone, Default)]
pub struct IdleMemory(Arc<Requests>);

#[derive(Default)]
struct Requests {
    count: AtomicU64,
    /// Whether the task waits for the requests to end.
    noticed: AtomicBool,
    started: Notify,
}

/// No request for this long is the end of a burst.
const QUIET: Duration = Duration::from_secs(2);

impl IdleMemory {
    /// Notes that a request was made.
    pub(crate) fn note_request(&self) {
        self.0.count.fetch_add(1, Ordering::Relaxed);
        if !self.0.noticed.load(Ordering::Relaxed) {
            self.0.noticed.store(true, Ordering::Relaxed);
            self.0.started.notify_one();
        }
    }

    /// Returns free memory whenever no request was made for a while. Never returns.
    pub(crate) async fn return_when_idle(self) {
        loop {
            self.quiet().await;
            memory::return_free_memory();
        }
    }

    /// Waits for the end of the next burst.
    async fn quiet(&self) {
        self.0.started.notified().await;
        let mut count = None;
        while count != Some(self.0.count.load(Ordering::Relaxed)) {
            count = Some(self.0.count.load(Ordering::Relaxed));
            sleep(QUIET).await;
        }
        self.0.noticed.store(false, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::{Instant, timeout};

    #[tokio::test(start_paused = true)]
    async fn a_burst_ends_when_no_request_was_made_for_a_while() {
        let (memory, began) = (IdleMemory::default(), Instant::now());
        let requests = async {
            for _ in 0..10 {
                memory.note_request();
                sleep(QUIET / 2).await;
            }
        };
        tokio::join!(requests, memory.quiet());
        assert!(began.elapsed() >= QUIET * 5 && began.elapsed() <= QUIET * 7);
        let idle = timeout(QUIET * 1000, memory.quiet()).await;
        assert!(idle.is_err(), "nothing is done while nothing happens");
        memory.note_request();
        timeout(QUIET * 2, memory.quiet()).await.expect("the next burst is noticed too");
    }
}
