//! The tray's view of the gateway: where its binary is, the supervisor that keeps it running, and
//! the tasks of the application.
//!
//! [`state`] is everything that the tray shows at one moment; [`state_task`] keeps it up to date.
//! This folder depends on `evermoor-client`, `launch_at_login` and `updates`; the rest of the tray
//! builds on it.

pub(crate) mod state;
pub(crate) mod state_task;

use std::path::PathBuf;
use std::time::Duration;
use std::{env, io};

use evermoor_client::launch::Launcher;
use evermoor_client::{GatewaySupervisor, Presence};
use evermoor_core::failure::{Code, Failure};
use evermoor_platform::paths::Paths;
use tauri::async_runtime;
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tracing::warn;

/// How long to wait for the application's tasks on exit.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);

/// The gateway's supervisor and the tasks of the application.
pub(crate) struct SupervisedGateway {
    supervisor: GatewaySupervisor,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl SupervisedGateway {
    pub(crate) fn start(launcher: Launcher) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let runtime = async_runtime::handle();
        let _entered = runtime.inner().enter();
        let supervisor = GatewaySupervisor::start(launcher, &tasks, stop.clone());
        Self { supervisor, tasks, stop }
    }

    pub(crate) fn supervisor(&self) -> &GatewaySupervisor {
        &self.supervisor
    }

    pub(crate) fn presence(&self) -> watch::Receiver<Presence> {
        self.supervisor.presence()
    }

    /// Runs a task until the application exits.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        let stopped = self.stop.clone().cancelled_owned();
        let task = async move {
            tokio::select! {
                () = stopped => {}
                () = task => {}
            }
        };
        self.tasks.spawn_on(task, async_runtime::handle().inner());
    }

    /// Runs a task that gets the stop token, so that it can clean up when the application exits.
    pub(crate) fn spawn_until<T>(&self, task: impl FnOnce(CancellationToken) -> T)
    where
        T: Future<Output = ()> + Send + 'static,
    {
        self.tasks.spawn_on(task(self.stop.clone()), async_runtime::handle().inner());
    }

    /// Stops all tasks. The gateway keeps running unless `stop_gateway` is set.
    pub(crate) fn shut_down(&self, stop_gateway: bool) {
        self.stop.cancel();
        self.tasks.close();
        let all_ended = async { timeout(SHUTDOWN_TIMEOUT, self.tasks.wait()).await };
        if async_runtime::block_on(all_ended).is_err() {
            warn!("a task did not stop in time");
        }
        let runtime = async_runtime::handle();
        let _entered = runtime.inner().enter();
        if stop_gateway && let Err(failure) = self.supervisor.stop_gateway() {
            warn!(%failure, "the gateway keeps running");
        }
    }
}

/// How to start the gateway: `EVERMOOR_BIN` or the binary next to this one, in `EVERMOOR_HOME` or
/// the system's default folders.
pub(crate) fn launcher() -> Result<Launcher, Failure> {
    let home = given("EVERMOOR_HOME");
    let paths = Paths::find(home.clone()).map_err(|error| {
        let what = format!("Evermoor cannot find a folder for its files: {error}.");
        Failure::new(Code::Configuration, what, "Set EVERMOOR_HOME to a folder.")
    })?;
    let program = match given("EVERMOOR_BIN") {
        Some(program) => program,
        None => next_to_this().map_err(|error| {
            let what = format!("Evermoor cannot find its gateway: {error}.");
            Failure::new(
                Code::Configuration,
                what,
                "Set EVERMOOR_BIN to the path of the `evermoor` binary.",
            )
        })?,
    };
    Ok(Launcher::new(program, home, paths))
}

pub(crate) fn given(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn next_to_this() -> io::Result<PathBuf> {
    let program = format!("evermoor{}", env::consts::EXE_SUFFIX);
    env::current_exe().map(|this| this.with_file_name(program))
}
