//! Whether a person has the menu open at this moment, where the system tells.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};

/// A panel that forgets to say that the menu was closed must not keep it as it is forever.
const LONGEST: Duration = Duration::from_secs(60);

pub(crate) struct Opening {
    open: Option<watch::Receiver<Option<Instant>>>,
}

impl Opening {
    /// Begins to watch; without news the menu counts as closed.
    pub(crate) fn watch() -> Self {
        Self { open: super::menu_openings() }
    }

    pub(crate) fn is_open(&mut self) -> bool {
        self.since().is_some_and(|since| since.elapsed() < LONGEST)
    }

    /// Waits until it is opened or closed.
    pub(crate) async fn changed(&mut self) {
        let until = self.since().filter(|since| since.elapsed() < LONGEST);
        let forgotten = async {
            match until {
                Some(since) => sleep_until(since + LONGEST).await,
                None => std::future::pending().await,
            }
        };
        let told = async {
            let heard = match &mut self.open {
                Some(open) => open.changed().await.is_ok(),
                None => false,
            };
            if !heard {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = forgotten => {}
            () = told => {}
        }
    }

    fn since(&mut self) -> Option<Instant> {
        self.open.as_mut().and_then(|open| *open.borrow_and_update())
    }
}
