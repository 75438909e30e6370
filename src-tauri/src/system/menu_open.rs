//! Whether a person has the menu open at this moment.
//!
//! Panels of Linux say when they open and close it. macOS and Windows tell only that the icon was
//! clicked and that a row was chosen, and nothing of a menu that is closed otherwise. So there it
//! counts as open from the click on, until a row is chosen or a look at it is over: what waits is
//! rows that come and go, while words and what can be clicked are brought up to date in place.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// Since when the menu is open, told by whoever hears of it.
#[derive(Clone)]
pub(crate) struct Teller(watch::Sender<Option<Instant>>);

pub(crate) struct Opening {
    open: watch::Receiver<Option<Instant>>,
    /// Whoever forgets to say that the menu was closed must not keep it as it is forever.
    longest: Duration,
}

impl Opening {
    /// Begins to watch; without news the menu counts as closed.
    pub(crate) fn new(longest: Duration) -> (Teller, Self) {
        let (tell, open) = watch::channel(None);
        (Teller(tell), Self { open, longest })
    }

    pub(crate) fn is_open(&mut self) -> bool {
        let since = *self.open.borrow_and_update();
        since.is_some_and(|since| since.elapsed() < self.longest)
    }

    /// Waits until it is opened or closed, if it was not since [`is_open`](Self::is_open) was asked.
    pub(crate) async fn changed(&mut self) {
        let since = self.open.borrow().filter(|since| since.elapsed() < self.longest);
        let (until, open) = (since.map(|since| since + self.longest), &mut self.open);
        let forgotten = async {
            match until {
                Some(moment) => sleep_until(moment).await,
                None => std::future::pending().await,
            }
        };
        let told = async {
            if open.changed().await.is_err() {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = forgotten => {}
            () = told => {}
        }
    }
}

impl Teller {
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

    const LONGEST: Duration = Duration::from_secs(20);

    #[tokio::test(start_paused = true)]
    async fn a_menu_is_open_from_the_click_until_a_row_is_chosen() {
        let (teller, mut opening) = Opening::new(LONGEST);
        assert!(!opening.is_open());
        teller.opened();
        opening.changed().await;
        assert!(opening.is_open());
        teller.closed();
        opening.changed().await;
        assert!(!opening.is_open());
    }

    #[tokio::test(start_paused = true)]
    async fn a_menu_whose_end_nobody_tells_is_closed_after_a_while() {
        let (teller, mut opening) = Opening::new(LONGEST);
        teller.opened();
        assert!(opening.is_open());
        let began = Instant::now();
        opening.changed().await;
        assert_eq!((began.elapsed(), opening.is_open()), (LONGEST, false));
    }
}
