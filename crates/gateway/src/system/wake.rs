//! Publishes that the machine slept and woke; [`WakeDetector`] in the core decides when it did.
//!
//! # Theory of operation
//! Timers stop while a laptop sleeps, and every connection may be dead when it wakes. The operating
//! system reports sleep and wake where it can. Comparing the wall clock with the monotonic clock
//! every two seconds detects a sleep in any case. Each sleep counts once.
//!
//! Then `upstream/supervisor/keepalive` checks each connection within two seconds, the supervisor ends a
//! wait for the next attempt, and `upstream/delivery` ends holds whose time passed during the sleep.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until};

use evermoor_core::policy::wake_detector::WakeDetector;
use evermoor_platform::sleep::{self, PowerEvent};

use crate::system::clock::ClockAndRandom;

/// Publishes each wake.
pub(crate) struct WakeNotifier {
    times: watch::Sender<u64>,
    last: watch::Sender<Option<SystemTime>>,
    changed: Arc<Notify>,
}

/// What is known about wakes.
pub(crate) struct WakeSignals {
    /// How many there were.
    pub(crate) times: watch::Receiver<u64>,
    /// When the last one happened.
    pub(crate) last: watch::Receiver<Option<SystemTime>>,
}

const CLOCK_INTERVAL: Duration = Duration::from_secs(2);
/// The system sends two notices per sleep, so this never fills up.
const NOTICE_CAPACITY: usize = 16;

impl WakeNotifier {
    pub(crate) fn new(changed: Arc<Notify>) -> (Self, WakeSignals) {
        let (times, counted) = watch::channel(0);
        let (last, known) = watch::channel(None);
        (Self { times, last, changed }, WakeSignals { times: counted, last: known })
    }

    fn notify(&self, now: SystemTime) {
        self.last.send_replace(Some(now));
        self.times.send_modify(|count| *count += 1);
        self.changed.notify_one();
    }
}

/// Notifies at every wake. Never returns.
pub(crate) async fn watch(notifier: WakeNotifier, clock: ClockAndRandom) {
    let (tell, notices) = mpsc::channel(NOTICE_CAPACITY);
    let listen = async move {
        let pass_on = |notice| {
            let _ = tell.try_send(notice);
        };
        let why = sleep::watch_power(pass_on).await;
        tracing::debug!(%why, "no notices of sleep; only the clocks detect it");
    };
    tokio::join!(Box::pin(listen), count(notifier, clock, notices));
}

async fn count(
    notifier: WakeNotifier,
    clock: ClockAndRandom,
    mut notices: mpsc::Receiver<PowerEvent>,
) {
    let mut sleeps = WakeDetector::new(Instant::now().into_std(), clock.now());
    let mut next = Instant::now() + CLOCK_INTERVAL;
    loop {
        let notice = tokio::select! {
            Some(notice) = notices.recv() => Some(notice),
            () = sleep_until(next) => None,
        };
        let (now, wall) = (Instant::now(), clock.now());
        let woke = match notice {
            Some(PowerEvent::Suspending) => {
                sleeps.going_to_sleep();
                continue;
            }
            Some(PowerEvent::Resumed) => sleeps.woke(now.into_std(), wall),
            None => sleeps.look(now.into_std(), wall, CLOCK_INTERVAL).is_some(),
        };
        next = now + CLOCK_INTERVAL;
        if woke {
            let announced = notice.is_some();
            tracing::info!(announced, "the machine slept; checking every connection");
            notifier.notify(wall);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use tokio_util::task::TaskTracker;

    /// A machine whose system sends notices until `tell` is replaced.
    struct Machine {
        tell: mpsc::Sender<PowerEvent>,
        slept: Arc<Mutex<Duration>>,
        woken: WakeSignals,
        changed: Arc<Notify>,
    }

    const NIGHT: Duration = Duration::from_secs(28_800);
    const EVENING: SystemTime = SystemTime::UNIX_EPOCH;

    impl Machine {
        fn start() -> Self {
            let (slept, changed) = (Arc::new(Mutex::default()), Arc::new(Notify::new()));
            let (notifier, woken) = WakeNotifier::new(Arc::clone(&changed));
            let (began, hidden) = (Instant::now(), Arc::clone(&slept));
            let now = move || EVENING + began.elapsed() + *hidden.lock();
            let (tell, notices) = mpsc::channel(NOTICE_CAPACITY);
            TaskTracker::new().spawn(count(notifier, ClockAndRandom::new(|| 0, now), notices));
            Self { tell, slept, woken, changed }
        }

        async fn says(&self, notice: PowerEvent) {
            self.tell.send(notice).await.unwrap();
        }

        fn sleeps(&self) {
            *self.slept.lock() += NIGHT;
        }

        async fn times(&self) -> u64 {
            tokio::time::sleep(CLOCK_INTERVAL * 3).await;
            *self.woken.times.borrow()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_notice_counts_at_once_and_the_clocks_do_not_count_that_sleep_again() {
        let mut machine = Machine::start();
        tokio::time::sleep(CLOCK_INTERVAL / 2).await;
        machine.says(PowerEvent::Suspending).await;
        machine.sleeps();
        let began = Instant::now();
        machine.says(PowerEvent::Resumed).await;
        machine.woken.times.changed().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(*machine.woken.last.borrow(), Some(EVENING + CLOCK_INTERVAL / 2 + NIGHT));
        machine.changed.notified().await;
        assert_eq!(machine.times().await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn without_notices_the_clocks_detect_a_sleep() {
        let mut machine = Machine::start();
        machine.tell = mpsc::channel(1).0;
        assert_eq!(machine.times().await, 0);
        machine.sleeps();
        assert_eq!(machine.times().await, 1);
        machine.sleeps();
        assert_eq!(machine.times().await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn repeated_notices_of_sleep_without_a_wake_do_not_count() {
        let machine = Machine::start();
        for _ in 0..20 {
            machine.says(PowerEvent::Suspending).await;
            tokio::time::sleep(CLOCK_INTERVAL / 2).await;
        }
        assert_eq!(machine.times().await, 0);
    }
}
