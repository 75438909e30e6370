//! Notices that the machine slept.
//!
//! Timers stand still while a laptop sleeps, and every connection may be dead when it wakes. A
//! look at both clocks every two seconds finds a sleep out, whatever the system says of it; then
//! every supervisor looks at its connection at once.

use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use evermoor_core::pace::SleepWatch;

use crate::chance::Chance;

const LOOK: Duration = Duration::from_secs(2);

/// Counts every sleep, for as long as somebody listens.
pub(crate) async fn watch(wakes: watch::Sender<u64>, chance: Chance) {
    let mut clocks = SleepWatch::new(Instant::now().into_std(), chance.now());
    loop {
        sleep(LOOK).await;
        if let Some(slept) = clocks.look(Instant::now().into_std(), chance.now(), LOOK) {
            tracing::info!(
                seconds = slept.as_secs(),
                "the machine slept; every connection is looked at"
            );
            wakes.send_modify(|count| *count += 1);
        }
    }
}
