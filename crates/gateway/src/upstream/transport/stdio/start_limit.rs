//! How long a program may take to start.
//!
//! `npx` and others download a program before they run it, which can take minutes. The limit of the
//! configuration is for a program that does nothing visible. While its processes use the CPU or write
//! to standard error, it has more time, up to ten times the limit.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::stderr::Position;

/// What a program has done so far, as far as that is visible.
#[derive(Clone, Copy, Debug)]
pub(super) struct VisibleWork {
    /// The CPU time of its running processes.
    pub(super) processor: Duration,
    pub(super) written: Position,
}

/// A program that did nothing visible for this long is not working.
const WINDOW: Duration = Duration::from_secs(5);
/// An idle program uses less CPU time than this in the window.
const LEAST_PROCESSOR_TIME: Duration = Duration::from_millis(50);
/// How many times the limit a program that is working may take.
const MOST_EXTENSION: u32 = 10;

/// Returns when the program has had enough time, and how much that was.
pub(super) async fn expired<F>(limit: Duration, mut look: impl FnMut() -> F) -> Duration
where
    F: Future<Output = VisibleWork> + Send,
{
    let (began, window) = (Instant::now(), WINDOW.min(limit));
    sleep(limit - window).await;
    let mut before = look().await;
    loop {
        sleep(window).await;
        let now = look().await;
        let is_working = now.differs_from(before);
        if !is_working || began.elapsed() >= limit.saturating_mul(MOST_EXTENSION) {
            return began.elapsed();
        }
        before = now;
    }
}

impl VisibleWork {
    fn differs_from(self, before: Self) -> bool {
        // The CPU time of a process that exits is no longer counted, and an exit is visible, too.
        self.processor.abs_diff(before.processor) >= LEAST_PROCESSOR_TIME
            || self.written != before.written
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::upstream::transport::stdio::stderr::Stderr;

    const LIMIT: Duration = Duration::from_secs(60);

    /// How long a program may take that works for this long.
    async fn allowed(works_for: Duration) -> Duration {
        let (began, written) = (Instant::now(), Stderr::default().position());
        let look = || async move {
            let processor = began.elapsed().min(works_for);
            VisibleWork { processor, written }
        };
        expired(LIMIT, look).await
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_does_nothing_has_the_limit() {
        assert_eq!(allowed(Duration::ZERO).await, LIMIT);
        assert_eq!(allowed(Duration::from_secs(30)).await, LIMIT);
    }

    #[tokio::test(start_paused = true)]
    async fn a_program_that_is_working_has_more_time_but_not_without_end() {
        let download = Duration::from_secs(180);
        let took = allowed(download).await;
        assert!(took >= download && took <= download + 2 * WINDOW, "{took:?}");
        let endless = allowed(Duration::MAX).await;
        assert!(endless >= 10 * LIMIT && endless <= 10 * LIMIT + WINDOW, "{endless:?}");
    }
}
