//! Keeps a gateway running and says how it is.
//!
//! # Theory of operation
//! One task, two states. *Attach*: adopt the gateway that runs, or start one. *Follow*: pass on
//! every state it reports, until its stream ends. When it ends, another gateway may have taken over:
//! then that one is followed, and nobody hears of it. Otherwise the gateway has died, and the task
//! attaches again, with a growing wait between attempts that fail. It never gives up and never ends
//! a gateway.

use serde::Serialize;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::backoff::Backoff;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::view::Status;
use evermoor_platform::paths::Paths;

use crate::control::Control;
use crate::launch::Launcher;

/// What is known of the gateway at this moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Presence {
    /// It is being looked for or started.
    Starting,
    /// It serves, and this is its state.
    Serving { status: Status },
    /// It does not serve; another attempt follows.
    Lost { failure: Failure },
}

/// A handle to the task that keeps a gateway running.
#[derive(Clone, Debug)]
pub struct Keeper {
    launcher: Launcher,
    presence: watch::Receiver<Presence>,
}

impl Keeper {
    /// Keeps a gateway running until `stop`. The gateway goes on when this ends.
    pub fn start(launcher: Launcher, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let (show, presence) = watch::channel(Presence::Starting);
        let task = Task { launcher: launcher.clone(), show };
        tasks.spawn(stop.run_until_cancelled_owned(task.run()));
        Self { launcher, presence }
    }

    pub fn presence(&self) -> watch::Receiver<Presence> {
        self.presence.clone()
    }

    /// Where everything is.
    pub fn paths(&self) -> &Paths {
        self.launcher.paths()
    }

    /// The gateway that runs, to ask something of it.
    pub fn control(&self) -> Result<Control, Failure> {
        Control::find(self.launcher.paths()).ok_or_else(not_running)
    }

    /// Asks the gateway to bring one upstream back.
    pub async fn restart_upstream(&self, name: &str) -> Result<(), Failure> {
        self.control()?.restart_upstream(name).await.map(drop).map_err(Failure::from)
    }

    /// Asks the gateway to leave one upstream alone, or all of them.
    pub async fn pause(&self, upstream: Option<&str>) -> Result<(), Failure> {
        self.control()?.pause(upstream).await.map_err(Failure::from)
    }

    /// Asks the gateway to look after one upstream again, or after all of them.
    pub async fn resume(&self, upstream: Option<&str>) -> Result<(), Failure> {
        self.control()?.resume(upstream).await.map_err(Failure::from)
    }
}

struct Task {
    launcher: Launcher,
    show: watch::Sender<Presence>,
}

impl Task {
    async fn run(self) {
        let mut attempt = 0;
        loop {
            let began = Instant::now();
            let failure = match self.launcher.attach().await {
                Ok(control) => {
                    let failure = self.follow(&control).await;
                    if self.is_succeeded(control.runtime().pid).await {
                        attempt = 0;
                        continue;
                    }
                    failure
                }
                Err(failure) => failure,
            };
            tracing::warn!(%failure, attempt, "gateway lost");
            self.show.send_replace(Presence::Lost { failure });
            if began.elapsed() >= Backoff::LOCAL.longest() {
                attempt = 0;
            }
            sleep(Backoff::LOCAL.wait(attempt, dice())).await;
            attempt += 1;
        }
    }

    /// Whether another gateway serves in the place of this process.
    async fn is_succeeded(&self, pid: u32) -> bool {
        match Control::find(self.launcher.paths()) {
            Some(control) => control.runtime().pid != pid && control.answers().await,
            None => false,
        }
    }

    /// Passes on every state until there are no more, and says why.
    async fn follow(&self, control: &Control) -> Failure {
        let mut following = match control.follow().await {
            Ok(following) => following,
            Err(error) => return error.into(),
        };
        while let Some(status) = following.next().await {
            self.show.send_replace(Presence::Serving { status });
        }
        Failure::new(Code::ConnectionLost, "The gateway stopped.", "Evermoor is starting it again.")
    }
}

fn not_running() -> Failure {
    Failure::new(Code::ConnectionRefused, "The gateway is not running.", "Start Evermoor.")
}

fn dice() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}
