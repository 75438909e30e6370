//! Keeps a gateway running and reports its state.
//!
//! # Theory of operation
//! One task alternates between two states. *Attach*: find the running gateway, or start one.
//! *Follow*: publish every status it reports until the stream ends. If another gateway took over
//! meanwhile, the task follows that one and reports nothing. Otherwise the gateway died: the task
//! attaches again, with backoff between failed attempts. It never gives up. Meanwhile the gateway's
//! address stays open (`listener_holder`).
//!
//! A gateway that the user stopped (`stop_marker`) stays stopped, and its address is closed at once. The task
//! waits until a gateway is started, or the user asks for one here.
//!
//! A gateway that runs under the system's service manager belongs to that manager. It is not
//! replaced by a newer version, and when it ends the task waits until the manager restarts it,
//! unless the user asks for another attempt.

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

use crate::control::ControlClient;
use crate::gateway_files::stop_marker;
use crate::launch::Launcher;
use crate::listener_holder::{GatewayAttachment, ListenerHolder};

/// The current state of the gateway, as seen from outside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum Presence {
    /// The gateway is being located or started.
    Starting,
    /// The gateway is running and reported this status.
    Serving { status: Status },
    /// The gateway is not running. Another attempt follows.
    Lost { failure: Failure },
    /// The user has stopped the gateway. No attempt follows.
    Stopped,
}

/// A handle to the task that keeps a gateway running.
#[derive(Clone, Debug)]
pub struct GatewaySupervisor {
    launcher: Launcher,
    presence: watch::Receiver<Presence>,
    retry_now: Arc<Notify>,
}

impl GatewaySupervisor {
    /// Keeps a gateway running until `stop` is cancelled. The gateway itself keeps running.
    pub fn start(launcher: Launcher, tasks: &TaskTracker, stop: CancellationToken) -> Self {
        // A user who starts the program of this supervisor wants a gateway.
        stop_marker::remove(launcher.paths());
        let (publish, presence) = watch::channel(Presence::Starting);
        let retry_now = Arc::new(Notify::new());
        let (attachment, attachments) = watch::channel(GatewayAttachment::Lost);
        match ListenerHolder::open(launcher.paths(), attachments) {
            Ok(holder) => drop(tasks.spawn(stop.clone().run_until_cancelled_owned(holder.run()))),
            Err(error) => tracing::warn!(%error, "the gateway's address is not kept open"),
        }
        let task = SupervisorTask {
            launcher: launcher.clone(),
            publish,
            attachment,
            retry_now: Arc::clone(&retry_now),
        };
        tasks.spawn(stop.run_until_cancelled_owned(task.run()));
        Self { launcher, presence, retry_now }
    }

    pub fn presence(&self) -> watch::Receiver<Presence> {
        self.presence.clone()
    }

    pub fn paths(&self) -> &Paths {
        self.launcher.paths()
    }

    /// A control client for the running gateway.
    pub fn control(&self) -> Result<ControlClient, Failure> {
        ControlClient::find(self.launcher.paths()).ok_or_else(not_running)
    }

    /// Asks the gateway to restart or reconnect one upstream.
    pub async fn restart_upstream(&self, name: &str) -> Result<Option<u64>, Failure> {
        self.control()?.restart_upstream(name).await.map_err(Failure::from)
    }

    /// Skips the backoff and makes the next attempt now, also after the user has stopped the gateway.
    pub fn try_now(&self) {
        self.retry_now.notify_one();
    }

    /// Asks the running gateway to exit, as the system would. Call this only after the supervising
    /// task has stopped, or it starts another gateway. Must be called within a tokio runtime.
    pub fn stop_gateway(&self) -> Result<(), Failure> {
        let pid = self.control()?.runtime().pid;
        let end = |process: ExitWatch| match process.end(false) {
            // Windows cannot ask a process to exit. Clients recover as they do after a crash.
            Err(error) if error.kind() == ErrorKind::Unsupported => process.end(true),
            result => result,
        };
        ExitWatch::open(pid).and_then(end).map_err(|error| {
            let what = format!("The gateway could not be stopped: {error}.");
            Failure::new(Code::Internal, what, format!("End process {pid} yourself."))
        })
    }
}

struct SupervisorTask {
    launcher: Launcher,
    publish: watch::Sender<Presence>,
    /// Tells the holder of the address whether there is a gateway.
    attachment: watch::Sender<GatewayAttachment>,
    retry_now: Arc<Notify>,
}

/// Why the status stream of a gateway ended.
struct StreamEnd {
    failure: Failure,
    /// Whether the system's service manager ran the gateway.
    supervised: bool,
}

/// The service manager does not report when it has restarted the gateway, so we poll.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

impl SupervisorTask {
    async fn run(self) {
        let (mut attempt, mut attachments) = (0, 0);
        loop {
            let began = Instant::now();
            let failure = match self.launcher.find_or_start().await {
                Ok(control) => {
                    attachments += 1;
                    self.attachment.send_replace(GatewayAttachment::Attached(attachments));
                    let end = self.follow(&control).await;
                    if self.is_replaced(control.runtime().pid).await {
                        attempt = 0;
                        continue;
                    }
                    if stop_marker::exists(self.launcher.paths()) {
                        self.attachment.send_replace(GatewayAttachment::Stopped);
                        self.wait_until_wanted().await;
                        attempt = 0;
                        continue;
                    }
                    self.attachment.send_replace(GatewayAttachment::Lost);
                    if end.supervised {
                        self.wait_for_service_manager().await;
                        attempt = 0;
                        continue;
                    }
                    end.failure
                }
                Err(failure) => failure,
            };
            tracing::warn!(%failure, attempt, "gateway lost");
            self.publish.send_replace(Presence::Lost { failure });
            if began.elapsed() >= Backoff::LOCAL.longest() {
                attempt = 0;
            }
            let wait = Backoff::LOCAL.wait(attempt, random());
            attempt += 1;
            if timeout(wait, self.retry_now.notified()).await.is_ok() {
                self.publish.send_replace(Presence::Starting);
                attempt = 0;
            }
        }
    }

    /// Waits until the service manager has restarted its gateway, or the user asks for one now.
    async fn wait_for_service_manager(&self) {
        tracing::info!("waiting for the service manager to restart the gateway");
        let what = "The gateway stopped.";
        let failure = Failure::new(Code::ConnectionLost, what, "Its service is restarting it.");
        self.publish.send_replace(Presence::Lost { failure });
        while self.launcher.running().await.is_none() {
            if timeout(POLL_INTERVAL, self.retry_now.notified()).await.is_ok() {
                self.publish.send_replace(Presence::Starting);
                return;
            }
        }
    }

    /// Waits until a gateway runs again, or the user asks for one.
    async fn wait_until_wanted(&self) {
        tracing::info!("the user has stopped the gateway");
        self.publish.send_replace(Presence::Stopped);
        // An earlier request, made while there was nothing to skip.
        let _ = timeout(Duration::ZERO, self.retry_now.notified()).await;
        while self.launcher.running().await.is_none() {
            if timeout(POLL_INTERVAL, self.retry_now.notified()).await.is_ok() {
                stop_marker::remove(self.launcher.paths());
                break;
            }
        }
        self.publish.send_replace(Presence::Starting);
    }

    /// Whether another gateway now serves instead of this process.
    async fn is_replaced(&self, pid: u32) -> bool {
        match ControlClient::find(self.launcher.paths()) {
            Some(control) => control.runtime().pid != pid && control.answers().await,
            None => false,
        }
    }

    /// Publishes every status until the stream ends. Returns why it ended.
    async fn follow(&self, control: &ControlClient) -> StreamEnd {
        let mut supervised = None;
        let failure = match control.follow().await {
            Ok(mut statuses) => {
                while let Some(status) = statuses.next().await {
                    if supervised.is_none() && !status.supervised {
                        self.launcher.replace_if_older(control);
                    }
                    supervised = Some(status.supervised);
                    self.publish.send_replace(Presence::Serving { status });
                }
                let what = "The gateway stopped.";
                Failure::new(Code::ConnectionLost, what, "Evermoor is restarting it.")
            }
            Err(error) => error.into(),
        };
        StreamEnd { failure, supervised: supervised.unwrap_or(false) }
    }
}

fn not_running() -> Failure {
    Failure::new(Code::ConnectionRefused, "The gateway is not running.", "Start Evermoor.")
}

fn random() -> u32 {
    getrandom::u32().unwrap_or(u32::MAX)
}
