//! One process of the fake PiecesOS, from start to exit.
//!
//! # Theory of operation
//! The process binds a port, connects to its test and serves. It closes its port before it exits,
//! so that its successor can bind it. A restart starts the successor as a separate process and
//! exits, as the real one does.

use std::ffi::OsStr;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::sleep;

use super::behaviour::{AppBehaviour, Behaviours};
use super::connections::{AppConnections, ConnectionListener};
use super::fault::Area;
use super::http;
use super::mcp::sessions::AppSessions;
use super::settings::{AppSettings, Flap, OnRestart};
use super::test_connection::TestConnection;
use crate::oracle::ledger::Ledger;

/// The running fake.
pub(super) struct FakeApp {
    pub(super) folder: PathBuf,
    pub(super) ledger: Ledger,
    pub(super) port: u16,
    pub(super) behaviours: Behaviours,
    pub(super) sessions: AppSessions,
    pub(super) connections: AppConnections,
    /// How many of the next replies to drop.
    pub(super) lost_replies: AtomicU32,
    pub(super) ballast: Mutex<Vec<Ballast>>,
    tasks: Mutex<JoinSet<()>>,
    pub(super) leave: mpsc::UnboundedSender<AppExit>,
}

/// Allocated memory.
pub(super) struct Ballast {
    pub(super) for_good: bool,
    pub(super) _bytes: Vec<u8>,
}

/// How the process exits.
pub(super) enum AppExit {
    Quit,
    Restart,
    Crash { next_after: Option<u64> },
}

/// Time for a caller to receive its answer before the process exits.
const REPLY_TIME: Duration = Duration::from_millis(20);

/// Runs in this folder, after a delay in milliseconds, until something ends it.
pub async fn run(folder: &Path, after: u64) {
    let settings = AppSettings::read(folder);
    sleep(Duration::from_millis(after + settings.start_millis)).await;
    let listener = listen(folder).await;
    let port = listener.local_addr().expect("it listens").port();
    let (leave, mut leaving) = mpsc::unbounded_channel();
    let app = Arc::new(FakeApp {
        folder: folder.to_owned(),
        ledger: Ledger::at(folder.join("ledger")),
        port,
        behaviours: Behaviours::new(),
        sessions: AppSessions::default(),
        connections: AppConnections::default(),
        lost_replies: AtomicU32::new(0),
        ballast: Mutex::default(),
        tasks: Mutex::default(),
        leave,
    });
    app.flap(settings.flap);
    let faulty = Arc::clone(&app);
    if let Some(test) = TestConnection::call(folder, port).await {
        app.spawn(async move { faulty.apply_faults(test).await });
    }
    let listener = ConnectionListener { listener, connections: app.connections.clone() };
    let exit = tokio::select! {
        served = async { axum::serve(listener, http::routes(&app)).await } => {
            panic!("it serves until it leaves: {served:?}")
        }
        Some(exit) = leaving.recv() => exit,
    };
    match exit {
        AppExit::Quit => std::process::exit(0),
        AppExit::Restart => {
            start_another(folder, 0);
            sleep(REPLY_TIME).await;
            std::process::exit(0)
        }
        AppExit::Crash { next_after } => {
            if let Some(after) = next_after {
                start_another(folder, after);
            }
            std::process::abort()
        }
    }
}

async fn listen(folder: &Path) -> TcpListener {
    loop {
        let settings = AppSettings::read(folder);
        let ports: Vec<u16> =
            settings.port.map_or_else(|| settings.ports().collect(), |port| vec![port]);
        for port in ports {
            if let Ok(listener) = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
                return listener;
            }
        }
        sleep(Duration::from_millis(10)).await;
    }
}

fn start_another(folder: &Path, after: u64) {
    let program = std::env::current_exe().expect("this is a program");
    let after = after.to_string();
    let args = [folder.as_os_str(), OsStr::new(&after)];
    let log = folder.join("log");
    evermoor_platform::process::spawn::start_detached(&program, &args, &log)
        .expect("it starts again");
}

impl FakeApp {
    pub(super) fn settings(&self) -> AppSettings {
        AppSettings::read(&self.folder)
    }

    /// Runs a task independently of the request that started it.
    pub(super) fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.tasks.lock().spawn(work);
    }

    /// Handles a restart request; an error is the status to answer with.
    pub(super) fn restart(self: &Arc<Self>) -> Result<(), u16> {
        match self.settings().on_restart {
            OnRestart::Works => self.leave_after(REPLY_TIME, AppExit::Restart),
            OnRestart::Refuses { status } => return Err(status),
            OnRestart::Ignores => {}
            OnRestart::Lingers { millis } => {
                self.behaviours.set(Area::Mcp, AppBehaviour::Refuses { status: 503, times: None });
                self.leave_after(Duration::from_millis(millis), AppExit::Restart);
            }
            OnRestart::Overlaps => {
                self.behaviours.set(Area::Mcp, AppBehaviour::Refuses { status: 503, times: None });
                AppSettings::alter(&self.folder, |settings| {
                    (settings.port, settings.on_restart) = (None, OnRestart::Works);
                });
                start_another(&self.folder, 0);
            }
        }
        Ok(())
    }

    pub(super) fn quit(self: &Arc<Self>) {
        self.leave_after(REPLY_TIME, AppExit::Quit);
    }

    /// Frees the memory that was not allocated for good.
    pub(super) fn optimize(&self) {
        self.ballast.lock().retain(|ballast| ballast.for_good);
    }

    fn leave_after(self: &Arc<Self>, wait: Duration, exit: AppExit) {
        let leave = self.leave.clone();
        self.spawn(async move {
            sleep(wait).await;
            let _ = leave.send(exit);
        });
    }

    fn flap(self: &Arc<Self>, flap: Option<Flap>) {
        let Some(flap) = flap.filter(|flap| flap.left > 0) else { return };
        let rest = Flap { left: flap.left - 1, ..flap };
        AppSettings::alter(&self.folder, |settings| settings.flap = Some(rest));
        let exit = AppExit::Crash { next_after: Some(flap.down_millis) };
        self.leave_after(Duration::from_millis(flap.up_millis), exit);
    }
}
