//! Whether the menu is open.
//!
//! Linux panels and macOS report when they open and close it. Windows reports only that the icon was
//! clicked and that a row was chosen, not that the menu was dismissed. There it counts as open from
//! the click until a row is chosen or a time limit passes. Meanwhile only the adding and removing
//! of rows waits; texts are updated in place.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Reports when the menu opens and closes.
#[derive(Clone)]
pub(crate) struct MenuOpenReporter(watch::Sender<Option<Instant>>);

pub(crate) struct MenuOpen {
    open: watch::Receiver<Option<Instant>>,
    /// After this time the menu counts as closed, in case nothing reports it.
    limit: Duration,
}

impl MenuOpen {
    pub(crate) fn new(limit: Duration) -> (MenuOpenReporter, Self) {
        let (report, open) = watch::channel(None);
        (MenuOpenReporter(report), Self { open, limit })
    }

    pub(crate) fn is_open(&mut self) -> bool {
        let since = *self.open.borrow_and_update();
        since.is_some_and(|since| since.elapsed() < self.limit)
    }

    /// Waits until the menu opens or closes. Returns at once if it has since the last
    /// [`is_open`](Self::is_open).
    pub(crate) async fn changed(&mut self) {
        let since = self.open.borrow().filter(|since| since.elapsed() < self.limit);
        let (until, open) = (since.map(|since| since + self.limit), &mut self.open);
        let expired = async {
            match until {
                Some(moment) => sleep_until(moment).await,
                None => std::future::pending().await,
            }
        };
        let reported = async {
            if open.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = expired => {}
            () = reported => {}
        }
    }
}

impl MenuOpenReporter {
    pub(crate) fn opened(&self) {
        self.0.send_replace(Some(Instant::now()));
    }

    pub(crate) fn closed(&self) {
        self.0.send_replace(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn a_menu_is_open_from_the_click_until_a_row_is_chosen() {
        let (reporter, mut menu) = MenuOpen::new(LIMIT);
        assert!(!menu.is_open());
        reporter.opened();
        menu.changed().await;
        assert!(menu.is_open());
        reporter.closed();
        menu.changed().await;
        assert!(!menu.is_open());
    }

    #[tokio::test(start_paused = true)]
    async fn a_menu_that_is_never_reported_closed_counts_as_closed_after_the_limit() {
        let (reporter, mut menu) = MenuOpen::new(LIMIT);
        reporter.opened();
        assert!(menu.is_open());
        let began = Instant::now();
        menu.changed().await;
        assert_eq!((began.elapsed(), menu.is_open()), (LIMIT, false));
    }
}
