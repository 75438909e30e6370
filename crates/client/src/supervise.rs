//! Keeps a gateway running and says how it is.
//!
//! # Theory of operation
//! One task, two states. *Attach*: adopt the gateway that runs, or start one. *Follow*: pass on
//! every state it reports, until its stream ends. When it ends, another gateway may have taken over:
//! then that one is followed, and nobody hears of it. Otherwise the gateway has died, and the task
//! attaches again, with a growing wait between attempts that fail. It never gives up.
//!
//! A gateway that the system's own supervisor runs is the supervisor's: it is not replaced by a newer
//! one, and when it ends it is waited for, unless a person asks for another attempt.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use evermoor_core::api::Status;
use evermoor_core::failure::{Code, Failure};
use evermoor_core::policy::backoff::Backoff;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::exit_watch::ExitWatch;

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
pub struct GatewaySupervisor {
    launcher: Launcher,
    presence: watch::Receiver<Presence>,
    impatient: Arc<Notify>,
}

impl GatewaySupervisor {
    /// Keeps a gateway running until `stop`. The gateway goes on when this ends.
    pub fn start(launcher: Launcher, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        let (show, presence) = watch::channel(Presence::Starting);
        let impatient = Arc::new(Notify::new());
        let task = Task { launcher: launcher.clone(), show, impatient: Arc::clone(&impatient) };
        tasks.spawn(stop.run_until_cancelled_owned(task.run()));
        Self { launcher, presence, impatient }
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
    pub async fn restart_upstream(&self, name: &str) -> Result<Option<u64>, Failure> {
        self.control()?.restart_upstream(name).await.map_err(Failure::from)
    }

    /// Makes the next attempt now: a person does not want to wait for it.
    pub fn try_now(&self) {
        self.impatient.notify_one();
    }

    /// Asks the gateway that runs to end, as the system would. Nobody looks after it any more. Must be
    /// called within a tokio runtime.
    pub fn end_gateway(&self) -> Result<(), Failure> {
        let pid = self.control()?.runtime().pid;
        let end = |process: ExitWatch| match process.end(false) {
            // Windows cannot ask; whoever is attached goes on with the next one as after a crash.
            Err(error) if error.kind() == ErrorKind::Unsupported => process.end(true),
            asked => asked,
        };
        ExitWatch::open(pid).and_then(end).map_err(|error| {
            let what = format!("The gateway could not be ended: {error}.");
            Failure::new(Code::Internal, what, format!("End the process {pid}."))
        })
    }
}

struct Task {
    launcher: Launcher,
    show: watch::Sender<Presence>,
    impatient: Arc<Notify>,
}

/// How a gateway was followed to its end.
struct Followed {
    failure: Failure,
    /// Whether the system's supervisor ran it.
    supervised: bool,
}

/// There is nothing to wait on in the start of a supervisor's gateway, so it is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

impl Task {
    async fn run(self) {
        let mut attempt = 0;
        loop {
            let began = Instant::now();
            let failure = match self.launcher.adopt().await {
                Ok(control) => {
                    let followed = self.follow(&control).await;
                    if self.is_succeeded(control.runtime().pid).await {
                        attempt = 0;
                        continue;
                    }
                    if followed.supervised {
                        self.await_supervisor().await;
                        attempt = 0;
                        continue;
                    }
                    followed.failure
                }
                Err(failure) => failure,
            };
            tracing::warn!(%failure, attempt, "gateway lost");
            self.show.send_replace(Presence::Lost { failure });
            if began.elapsed() >= Backoff::LOCAL.longest() {
                attempt = 0;
            }
            let wait = Backoff::LOCAL.wait(attempt, dice());
            attempt += 1;
            if timeout(wait, self.impatient.notified()).await.is_ok() {
                self.show.send_replace(Presence::Starting);
                attempt = 0;
            }
        }
    }

    /// Waits until the supervisor has brought its gateway back, or a person wants one now.
    async fn await_supervisor(&self) {
        tracing::info!("the gateway is its supervisor's to start again");
        let what = "The gateway stopped.";
        let failure = Failure::new(Code::ConnectionLost, what, "Its service is starting it again.");
        self.show.send_replace(Presence::Lost { failure });
        while self.launcher.serving().await.is_none() {
            if timeout(LOOK_AGAIN, self.impatient.notified()).await.is_ok() {
                self.show.send_replace(Presence::Starting);
                return;
            }
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
    async fn follow(&self, control: &Control) -> Followed {
        let mut supervised = None;
        let failure = match control.follow().await {
            Ok(mut following) => {
                while let Some(status) = following.next().await {
                    if supervised.is_none() && !status.supervised {
                        self.launcher.renew(control);
                    }
                    supervised = Some(status.supervised);
                    self.show.send_replace(Presence::Serving { status });
                }
                let what = "The gateway stopped.";
                Failure::new(Code::ConnectionLost, what, "Evermoor is starting it again.")
            }
            Err(error) => error.into(),
        };
        Followed { failure, supervised: supervised.unwrap_or(false) }
    }
}

fn not_running() -> Failure {
    Failure::new(Code::ConnectionRefused, "The gateway is not running.", "Start Evermoor.")
}

fn dice() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}
