//! The tray's side of the gateway: where its program is, and the keeper that looks after it.

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

/// How long the application waits for its tasks when it ends.
const FAREWELL: Duration = Duration::from_secs(1);

/// The gateway as the rest of the application holds it, with the tasks of the application.
pub(crate) struct Gateway {
    keeper: GatewaySupervisor,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Gateway {
    pub(crate) fn start(launcher: Launcher) -> Self {
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let runtime = async_runtime::handle();
        let _inside = runtime.inner().enter();
        let keeper = GatewaySupervisor::start(launcher, &tasks, stop.clone());
        Self { keeper, tasks, stop }
    }

    pub(crate) fn keeper(&self) -> &GatewaySupervisor {
        &self.keeper
    }

    pub(crate) fn presence(&self) -> watch::Receiver<Presence> {
        self.keeper.presence()
    }

    /// Runs a task that ends with the application.
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

    /// Runs a task that is told when the application ends, and has a moment then.
    pub(crate) fn spawn_until<T>(&self, task: impl FnOnce(CancellationToken) -> T)
    where
        T: Future<Output = ()> + Send + 'static,
    {
        self.tasks.spawn_on(task(self.stop.clone()), async_runtime::handle().inner());
    }

    /// Stops looking after the gateway, which goes on serving unless it is to end too.
    pub(crate) fn let_go(&self, end: bool) {
        self.stop.cancel();
        self.tasks.close();
        let all_ended = async { timeout(FAREWELL, self.tasks.wait()).await };
        if async_runtime::block_on(all_ended).is_err() {
            warn!("a task did not end in time");
        }
        let runtime = async_runtime::handle();
        let _inside = runtime.inner().enter();
        if end && let Err(failure) = self.keeper.end_gateway() {
            warn!(%failure, "the gateway goes on");
        }
    }
}

/// How the gateway is started: with the program that was named or lies beside this one, in the
/// home that was given or the places of the system.
pub(crate) fn launcher() -> Result<Launcher, Failure> {
    let home = given("EVERMOOR_HOME");
    let paths = Paths::find(home.clone()).map_err(|error| {
        let what = format!("There is no place for Evermoor's files: {error}.");
        Failure::new(Code::Configuration, what, "Set EVERMOOR_HOME to a folder.")
    })?;
    let program = match given("EVERMOOR_BIN") {
        Some(program) => program,
        None => beside_this().map_err(|error| {
            let what = format!("The gateway's program cannot be found: {error}.");
            Failure::new(Code::Configuration, what, "Set EVERMOOR_BIN to the evermoor program.")
        })?,
    };
    Ok(Launcher::new(program, home, paths))
}

pub(crate) fn given(variable: &str) -> Option<PathBuf> {
    env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

fn beside_this() -> io::Result<PathBuf> {
    let program = format!("evermoor{}", env::consts::EXE_SUFFIX);
    env::current_exe().map(|this| this.with_file_name(program))
}
