//! Starts a gateway when there is none, and a newer one when an older one runs.
//!
//! Ten editors may start at once and each may want a gateway: the lock decides which one serves,
//! the others end at once, and everybody attaches to the winner.
//!
//! Whoever is newer than the gateway that runs starts one that takes over, and waits for nothing:
//! the older one serves until then, and nobody notices when the other one does. It is tried once;
//! what does not come of it then would not come of it later.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::process::Child;
use tokio::time::{Instant, sleep};

use evermoor_core::failure::{Code, Failure};
use evermoor_core::lifecycle::version;
use evermoor_core::security::tokens::LOCAL_EDITOR;
use evermoor_platform::fs::private;
use evermoor_platform::paths::Paths;
use evermoor_platform::process::spawn;

use crate::control::Control;

/// How a gateway is started: the program, and where everything is.
#[derive(Clone, Debug)]
pub struct Launcher {
    program: PathBuf,
    home: Option<PathBuf>,
    paths: Paths,
    /// Whom the shim speaks for.
    editor: String,
    /// The version of the gateway that we last wanted to replace.
    tried: Arc<Mutex<Option<String>>>,
}

/// The version of whoever starts gateways here, which is that of the program it starts.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// A gateway that does not serve by then will not.
const START_LIMIT: Duration = Duration::from_secs(15);
/// There is nothing to wait on in another process's start, so its runtime file is looked for.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Launcher {
    /// `program` is the `evermoor` binary; `home` is what `--home` was given, if it was.
    pub fn new(program: PathBuf, home: Option<PathBuf>, paths: Paths) -> Self {
        Self { program, home, paths, editor: LOCAL_EDITOR.to_owned(), tried: Arc::default() }
    }

    /// For an editor with a token of its own.
    pub fn speaking_for(self, editor: &str) -> Self {
        Self { editor: editor.to_owned(), ..self }
    }

    pub(crate) fn editor(&self) -> &str {
        &self.editor
    }

    pub fn paths(&self) -> &Paths {
        &self.paths
    }

    /// The gateway that runs, or one that is started now. If it is older than we are, one that takes
    /// over is started too.
    pub async fn attach(&self) -> Result<Control, Failure> {
        let control = self.adopt().await?;
        self.renew(&control);
        Ok(control)
    }

    /// The gateway that runs, whatever its version, or one that is started now. A gateway that holds
    /// its lock but does not answer is about to end or about to serve, so it is given time for either.
    pub async fn adopt(&self) -> Result<Control, Failure> {
        let deadline = Instant::now() + START_LIMIT;
        loop {
            match Control::find(&self.paths) {
                None => return self.start().await,
                Some(control) if control.answers().await => return Ok(control),
                Some(_) if Instant::now() >= deadline => return Err(stuck()),
                Some(_) => sleep(LOOK_AGAIN).await,
            }
        }
    }

    /// Starts a gateway that takes over from this one, if this one is older than we are.
    pub fn renew(&self, control: &Control) {
        let (running, mut tried) = (&control.runtime().version, self.tried.lock());
        if !version::should_take_over(running, VERSION, tried.as_deref()) {
            return;
        }
        *tried = Some(running.clone());
        match self.run(&["--takeover", "--if-older"]) {
            Ok(_) => tracing::info!(running, ours = VERSION, "a newer gateway takes over"),
            Err(error) => tracing::warn!(%error, "the gateway stays the older one"),
        }
    }

    /// Starts a gateway that takes over from the one that runs, whichever is newer.
    pub fn take_over(&self) -> io::Result<Child> {
        let _ = std::fs::remove_file(self.paths.start_failure_file());
        self.run(&["--takeover"])
    }

    /// Starts our own gateway.
    fn run(&self, how: &[&str]) -> io::Result<Child> {
        let home = self.home.as_deref().map(Path::as_os_str);
        let mut args = vec![OsStr::new("serve"), OsStr::new("--background")];
        args.extend(how.iter().map(OsStr::new));
        args.extend(home.into_iter().flat_map(|home| [OsStr::new("--home"), home]));
        spawn::start_detached(&self.program, &args, &self.paths.output_file())
    }

    async fn start(&self) -> Result<Control, Failure> {
        let _ = std::fs::remove_file(self.paths.start_failure_file());
        let mut child = self.run(&[]).map_err(|error| {
            let what =
                format!("The gateway could not be started: {} ({error}).", self.program.display());
            Failure::new(Code::Internal, what, "Install Evermoor again.")
        })?;
        let deadline = Instant::now() + START_LIMIT;
        let mut ended = false;
        while Instant::now() < deadline {
            if let Some(control) = self.serving().await {
                return Ok(control);
            }
            if ended {
                break;
            }
            // One that ended may have lost to another that serves, so look once more after it.
            ended = tokio::select! {
                _ = child.wait() => true,
                () = sleep(LOOK_AGAIN) => false,
            };
        }
        Err(self.why_it_ended())
    }

    /// The gateway that runs and answers, if there is one.
    pub async fn serving(&self) -> Option<Control> {
        let control = Control::find(&self.paths)?;
        control.answers().await.then_some(control)
    }

    fn why_it_ended(&self) -> Failure {
        let told = private::read_private(&self.paths.start_failure_file()).ok().flatten();
        told.and_then(|told| serde_json::from_slice(&told).ok()).unwrap_or_else(|| {
            let log = self.paths.output_file();
            let remedy = format!("Run `evermoor logs`, or look at the end of {}.", log.display());
            Failure::new(Code::Internal, "The gateway ended while it started.", remedy)
        })
    }
}

fn stuck() -> Failure {
    let what = "A gateway is running but does not answer.";
    Failure::new(Code::Timeout, what, "End the process `evermoor serve`, then try again.")
}
