//! Starts the program of a stdio upstream and ends it with its descendants ([`tree`]).
//!
//! # Theory of operation
//! A stdio server is rarely one process: `npx` starts a shell that starts node. So a program is started
//! as the root of a [`ProcessTree`], which is a process group on Unix and a job object on Windows. The whole
//! tree is asked to exit or killed, and killed when its owner is dropped. No shell is involved: this
//! module finds the program and starts it by its full path.
//!
//! If this process is killed, the standard input of its children closes, and most of them exit. On
//! Windows the system kills the whole job. On Linux the root of each tree also gets SIGTERM, which
//! common launchers pass on. A grandchild that ignores both keeps running; it has
//! [`environment::CHILD_MARKER`] in its environment, and the next gateway ends it ([`orphans`]).
//!
//! A program that leaves the group on purpose, such as a browser that should stay open, is left
//! running.
//!
//! # Layout
//! - [`environment`]: the environment of a child
//! - [`path`]: the search path of the user's terminal
//! - [`program`]: finds a program on the search path
//! - [`tree`]: waits for a process tree and ends it
//! - [`exit_status`]: how a process exited
//! - [`orphans`]: ends the children of a gateway that was killed

pub mod environment;
pub mod exit_status;
pub mod orphans;
pub mod path;
pub mod program;
#[cfg(test)]
mod tests;
pub mod tree;
#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::mpsc;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};

pub use environment::ChildEnvironment;
pub use exit_status::ProcessExit;
pub use tree::ProcessTree;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use crate::system::System;

/// The program to start. A leading `~` in the program, the folder or an argument is the home folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChildSpec {
    /// A name on the search path, or a path.
    pub program: String,
    pub args: Vec<String>,
    /// Variables declared for this program. They take precedence.
    pub env: Vec<(String, String)>,
    /// The working folder; the home folder by default.
    pub cwd: Option<String>,
}

/// This side of the child's pipes.
#[derive(Debug)]
pub struct ChildPipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum SpawnError {
    #[error("program `{program}` not found on the search path")]
    NotOnPath { program: String },
    #[error("file not found: {}", path.display())]
    NoFile { path: PathBuf },
    #[error("{} is not executable", path.display())]
    NotExecutable { path: PathBuf },
    #[error("working folder not found: {}", path.display())]
    NoFolder { path: PathBuf },
    /// The file exists, but the interpreter in its first line does not.
    #[error("the interpreter of {} was not found", path.display())]
    NoInterpreter { path: PathBuf },
    #[error("cannot start {}: {source}", path.display())]
    Refused { path: PathBuf, source: io::Error },
}

/// Starts a program as the root of a new tree.
pub async fn spawn(
    spec: &ChildSpec,
    environment: &ChildEnvironment,
) -> Result<(ProcessTree, ChildPipes), SpawnError> {
    let (answer, started) = tokio::sync::oneshot::channel();
    let (spec, environment) = (spec.clone(), environment.clone());
    let runtime = tokio::runtime::Handle::current();
    // Finding and starting a program blocks. Linux sends the parent death signal when the thread that
    // started the child exits, so each child has a thread that lives as long as the child.
    let keep_thread = move || {
        let (home, until_dropped) = mpsc::channel::<()>();
        let started = {
            let _runtime = runtime.enter();
            start(&spec, &environment, home)
        };
        if answer.send(started).is_ok() && system::THREAD_MUST_LIVE {
            let _ = until_dropped.recv();
        }
    };
    let thread =
        std::thread::Builder::new().name("child".into()).stack_size(STACK_SIZE).spawn(keep_thread);
    let refused = |source| SpawnError::Refused { path: PathBuf::new(), source };
    thread.map_err(refused)?;
    started
        .await
        .unwrap_or_else(|_| Err(refused(io::Error::other("the thread that starts it ended"))))
}

const STACK_SIZE: usize = 256 << 10;

fn start(
    spec: &ChildSpec,
    environment: &ChildEnvironment,
    home: mpsc::Sender<()>,
) -> Result<(ProcessTree, ChildPipes), SpawnError> {
    let expand = |text: &str| program::expand(System::HERE, text, environment.home());
    let folder = match &spec.cwd {
        Some(folder) => Some(PathBuf::from(expand(folder))),
        None => environment.home().map(Path::to_owned).filter(|home| home.is_dir()),
    };
    if let Some(path) = folder.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(SpawnError::NoFolder { path: path.clone() });
    }
    let variables = environment.for_child(&spec.env);
    let path = environment::get(System::HERE, &variables, "PATH").unwrap_or_default();
    let path: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let search = program::Search { folder: folder.as_deref(), path: &path, variables: &variables };
    let path = program::find(System::HERE, &expand(&spec.program), &search, system::kind)?;

    let mut command = crate::process::spawn::command(&path);
    command
        .args(spec.args.iter().map(|argument| expand(argument)))
        .env_clear()
        .envs(variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(folder) = &folder {
        command.current_dir(folder);
    }
    system::prepare(&mut command);
    let started = command.spawn().and_then(|mut child| {
        let group = system::Group::of(&child)?;
        let pipes = pipes(&mut child)?;
        Ok((ProcessTree::new(child, group, home), pipes))
    });
    started.map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            SpawnError::NoInterpreter { path }
        } else {
            SpawnError::Refused { path, source }
        }
    })
}

fn pipes(child: &mut Child) -> io::Result<ChildPipes> {
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(ChildPipes { stdin, stdout, stderr }),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}
