//! Starts a gateway when none is running, and replaces an older one.
//!
//! Ten editors may start at once and each may want a gateway. The instance lock decides which
//! gateway serves; the others exit at once, and every client attaches to the winner.
//!
//! A client that is newer than the running gateway starts a newer gateway that takes over. The
//! client does not wait for it: the older gateway serves until the takeover. This is tried once per
//! version, because a takeover that failed would fail again.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::process::Child;
use tokio::time::{Instant, sleep};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::lifecycle::runtime::RuntimeFile;
use evermoor_core::lifecycle::version;
use evermoor_core::security::tokens::LOCAL_EDITOR;
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::spawn;

use crate::control::ControlClient;
use crate::gateway_files::runtime_file;

/// How to start a gateway: the program and its paths.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    home: Option<PathBuf>,
    paths: Paths,
    /// The editor whose token the shim uses.
    editor: String,
    /// The gateway version that we last tried to replace.
    tried: Arc<Mutex<Option<String>>>,
}

/// Our own version, which is also the version of the gateway we start.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A gateway that has not started within this time is assumed to have failed.
/// The shim makes further attempts for as long as its `GATEWAY_WAIT`.
const START_TIMEOUT: Duration = Duration::from_secs(15);
/// Another process does not report when it has started, so we poll for its runtime file.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

impl Launcher {
    /// `program` is the `evermoor` binary; `home` is the value of `--home`, if given.
    pub fn new(program: PathBuf, home: Option<PathBuf>, paths: Paths) -> Self {
        Self { program, home, paths, editor: LOCAL_EDITOR.to_owned(), tried: Arc::default() }
    }

    /// Uses the token of this editor.
    pub fn for_editor(self, editor: &str) -> Self {
        Self { editor: editor.to_owned(), ..self }
    }

    pub(crate) fn editor(&self) -> &str {
        &self.editor
    }

    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// Finds the running gateway or starts one. Replaces it if it is older than this program.
    pub async fn attach(&self) -> Result<ControlClient, Failure> {
        let control = self.find_or_start().await?;
        self.replace_if_older(&control);
        Ok(control)
    }

    /// Finds the running gateway, whatever its version, or starts one.
    pub async fn find_or_start(&self) -> Result<ControlClient, Failure> {
        self.find_or_start_with(answering).await
    }

    /// Finds the running gateway or starts one. `reach` returns what it is reached with, once it answers. A
    /// gateway that holds the lock but does not answer is either starting or stopping, so we wait for it.
    pub(crate) async fn find_or_start_with<T, F>(
        &self,
        reach: impl Fn(RuntimeFile) -> F,
    ) -> Result<T, Failure>
    where
        F: Future<Output = Result<Option<T>, Failure>>,
    {
        let deadline = Instant::now() + START_TIMEOUT;
        loop {
            let Some(runtime) = runtime_file::find(&self.paths) else {
                return self.start(reach).await;
            };
            match reach(runtime).await? {
                Some(reached) => return Ok(reached),
                None if Instant::now() >= deadline => return Err(not_answering()),
                None => sleep(POLL_INTERVAL).await,
            }
        }
    }

    /// Starts a gateway that takes over, if the running one is older than this program.
    pub fn replace_if_older(&self, control: &ControlClient) {
        self.replace_if_older_than_this(control.runtime());
    }

    pub(crate) fn replace_if_older_than_this(&self, runtime: &RuntimeFile) {
        let (running, mut tried) = (&runtime.version, self.tried.lock());
        if !version::should_take_over(running, VERSION, tried.as_deref()) {
            return;
        }
        *tried = Some(running.clone());
        match self.run(&["--takeover", "--if-older"]) {
            Ok(_) => tracing::info!(running, ours = VERSION, "starting a newer gateway"),
            Err(error) => tracing::warn!(%error, "cannot start a newer gateway"),
        }
    }

    /// Starts a gateway that takes over from the running one, whatever its version.
    pub fn take_over(&self) -> io::Result<Child> {
        let _ = std::fs::remove_file(self.paths.start_failure_file());
        self.run(&["--takeover"])
    }

    fn run(&self, flags: &[&str]) -> io::Result<Child> {
        let home = self.home.as_deref().map(Path::as_os_str);
        let mut args = vec![OsStr::new("serve"), OsStr::new("--background")];
        args.extend(flags.iter().map(OsStr::new));
        args.extend(home.into_iter().flat_map(|home| [OsStr::new("--home"), home]));
        spawn::start_detached(&self.program, &args, &self.paths.output_file())
    }

    async fn start<T, F>(&self, reach: impl Fn(RuntimeFile) -> F) -> Result<T, Failure>
    where
        F: Future<Output = Result<Option<T>, Failure>>,
    {
        let _ = std::fs::remove_file(self.paths.start_failure_file());
        let mut child = self.run(&[]).map_err(|error| {
            let what =
                format!("The gateway could not be started: {} ({error}).", self.program.display());
            Failure::new(Code::Internal, what, "Reinstall Evermoor.")
        })?;
        let deadline = Instant::now() + START_TIMEOUT;
        let mut ended = false;
        while Instant::now() < deadline {
            if let Some(runtime) = runtime_file::find(&self.paths)
                && let Some(reached) = reach(runtime).await?
            {
                return Ok(reached);
            }
            if ended {
                break;
            }
            // A gateway that exited may have lost the lock to another one, so check once more.
            ended = tokio::select! {
                _ = child.wait() => true,
                () = sleep(POLL_INTERVAL) => false,
            };
        }
        Err(self.start_failure())
    }

    /// The running gateway, if it answers.
    pub async fn running(&self) -> Option<ControlClient> {
        answering(runtime_file::find(&self.paths)?).await.ok()?
    }

    fn start_failure(&self) -> Failure {
        let content = private::read_private(&self.paths.start_failure_file()).ok().flatten();
        content.and_then(|content| serde_json::from_slice(&content).ok()).unwrap_or_else(|| {
            let log = self.paths.output_file();
            let remedy = format!("Run `evermoor logs`, or see the end of {}.", log.display());
            Failure::new(Code::Internal, "The gateway exited during startup.", remedy)
        })
    }
}

/// The gateway, if it answers over HTTP.
async fn answering(runtime: RuntimeFile) -> Result<Option<ControlClient>, Failure> {
    let control = ControlClient::of(runtime);
    Ok(control.answers().await.then_some(control))
}

fn not_answering() -> Failure {
    let what = "A gateway is running but does not answer.";
    Failure::new(Code::Timeout, what, "End the process `evermoor serve`, then try again.")
}
