//! Notices that the machine slept.
//!
//! # Theory of operation
//! Timers stand still while a laptop sleeps, and every connection may be dead when it wakes. The
//! system says so when it can. A look at both clocks every two seconds finds a sleep out whatever
//! the system says of it. Either way it counts once; then every supervisor looks at its connection
//! at once.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{Notify, mpsc, watch};
use tokio::time::{Instant, sleep_until};

use evermoor_core::policy::timing::Sleeps;
use evermoor_platform::sleep::{self, Notice};

use crate::system::environment::Chance;

/// Rung at every wake.
pub(crate) struct Bell {
    times: watch::Sender<u64>,
    last: watch::Sender<Option<SystemTime>>,
    changed: Arc<Notify>,
}

/// What is known of the wakes.
pub(crate) struct Woken {
    /// Counts them.
    pub(crate) times: watch::Receiver<u64>,
    /// When the last one was.
    pub(crate) last: watch::Receiver<Option<SystemTime>>,
}

const LOOK: Duration = Duration::from_secs(2);
/// The system says two things about a sleep; nobody is this far behind.
const ROOM: usize = 16;

impl Bell {
    /// A bell at which `changed` is notified, too.
    pub(crate) fn new(changed: Arc<Notify>) -> (Self, Woken) {
        let (times, counted) = watch::channel(0);
        let (last, known) = watch::channel(None);
        (Self { times, last, changed }, Woken { times: counted, last: known })
    }

    fn ring(&self, now: SystemTime) {
        self.last.send_replace(Some(now));
        self.times.send_modify(|count| *count += 1);
        self.changed.notify_one();
    }
}

/// Rings at every wake, for as long as it runs.
pub(crate) async fn watch(bell: Bell, chance: Chance) {
    let (tell, told) = mpsc::channel(ROOM);
    let listen = async move {
        let pass_on = |notice| {
            let _ = tell.try_send(notice);
        };
        let why = sleep::notices(pass_on).await;
        tracing::debug!(%why, "a sleep is found out by the clocks alone");
    };
    tokio::join!(Box::pin(listen), count(bell, chance, told));
}

async fn count(bell: Bell, chance: Chance, mut told: mpsc::Receiver<Notice>) {
    let mut sleeps = Sleeps::new(Instant::now().into_std(), chance.now());
    let mut next = Instant::now() + LOOK;
    loop {
        let notice = tokio::select! {
            Some(notice) = told.recv() => Some(notice),
            () = sleep_until(next) => None,
        };
        let (now, wall) = (Instant::now(), chance.now());
        let woke = match notice {
            Some(Notice::Sleeps) => {
                sleeps.begins();
                continue;
            }
            Some(Notice::Woke) => sleeps.woke(now.into_std(), wall),
            None => sleeps.look(now.into_std(), wall, LOOK).is_some(),
        };
        next = now + LOOK;
        if woke {
            let told = notice.is_some();
            tracing::info!(told, "the machine slept; every connection is looked at");
            bell.ring(wall);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parking_lot::Mutex;
    use tokio_util::task::TaskTracker;

    /// A machine whose system tells when it sleeps, until it does not.
    struct Machine {
        tell: mpsc::Sender<Notice>,
        slept: Arc<Mutex<Duration>>,
        woken: Woken,
        changed: Arc<Notify>,
    }

    const NIGHT: Duration = Duration::from_secs(28_800);
    const EVENING: SystemTime = SystemTime::UNIX_EPOCH;

    impl Machine {
        fn start() -> Self {
            let (slept, changed) = (Arc::new(Mutex::default()), Arc::new(Notify::new()));
            let (bell, woken) = Bell::new(Arc::clone(&changed));
            let (began, hidden) = (Instant::now(), Arc::clone(&slept));
            let now = move || EVENING + began.elapsed() + *hidden.lock();
            let (tell, told) = mpsc::channel(ROOM);
            TaskTracker::new().spawn(count(bell, Chance::new(|| 0, now), told));
            Self { tell, slept, woken, changed }
        }

        async fn says(&self, notice: Notice) {
            self.tell.send(notice).await.unwrap();
        }

        fn sleeps(&self) {
            *self.slept.lock() += NIGHT;
        }

        async fn times(&self) -> u64 {
            tokio::time::sleep(LOOK * 3).await;
            *self.woken.times.borrow()
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_notice_counts_at_once_and_the_clocks_do_not_count_the_same_sleep_again() {
        let mut machine = Machine::start();
        tokio::time::sleep(LOOK / 2).await;
        machine.says(Notice::Sleeps).await;
        machine.sleeps();
        let began = Instant::now();
        machine.says(Notice::Woke).await;
        machine.woken.times.changed().await.unwrap();
        assert_eq!(began.elapsed(), Duration::ZERO);
        assert_eq!(*machine.woken.last.borrow(), Some(EVENING + LOOK / 2 + NIGHT));
        machine.changed.notified().await;
        assert_eq!(machine.times().await, 1);
    }

    #[tokio::test(start_paused = true)]
    async fn where_nobody_tells_the_clocks_do() {
        let mut machine = Machine::start();
        machine.tell = mpsc::channel(1).0;
        assert_eq!(machine.times().await, 0);
        machine.sleeps();
        assert_eq!(machine.times().await, 1);
        machine.sleeps();
        assert_eq!(machine.times().await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_machine_that_is_told_to_sleep_again_and_again_has_not_slept() {
        let machine = Machine::start();
        for _ in 0..20 {
            machine.says(Notice::Sleeps).await;
            tokio::time::sleep(LOOK / 2).await;
        }
        assert_eq!(machine.times().await, 0);
    }
}
