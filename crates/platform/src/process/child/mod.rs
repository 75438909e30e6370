//! Starting an upstream's program, which must not outlive us.
//!
//! # Theory of operation
//! A server over pipes is rarely one process: `npx` starts a shell that starts node. So a program
//! is started as the head of a [`Tree`], a process group on Unix and a job on Windows, and the
//! tree is what is asked to end, ended, and ended again when its owner is dropped. Nothing goes
//! through a shell: the program is looked for here and started by its full path.
//!
//! If this process is killed, its children see their standard input close, and most end. On
//! Windows the system ends the whole job. On Linux the head of each tree also gets a SIGTERM,
//! which the usual launchers pass on; a grandchild that ignores both stays behind, with
//! [`environment::MARKER`] in its environment to be known by: the next gateway ends it ([`orphans`]).
//!
//! A program that leaves the group on purpose, as a browser that is to stay open does, is not
//! ours to end.
//!
//! # Layout
//! - [`environment`]: what a child may know: an allow-list, and what was declared for it
//! - [`path`]: where programs are looked for, although a Dock or a menu gives us a poor `PATH`
//! - [`program`]: finding a program there
//! - [`tree`]: waiting for a tree, and ending it
//! - [`exit`]: how a program ended
//! - [`orphans`]: ending what a killed gateway left behind

pub mod environment;
pub mod exit;
pub mod orphans;
pub mod path;
pub mod program;
#[cfg(unix)]
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

pub use environment::Environment;
pub use exit::Exit;
pub use tree::Tree;
#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use crate::system::System;

/// What to start. A leading `~` in the program, the folder and each argument is the home folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// A name to look for, or a path.
    pub program: String,
    pub args: Vec<String>,
    /// Variables declared for this program. They win over everything else.
    pub env: Vec<(String, String)>,
    /// The folder to start in; the home folder if there is none.
    pub cwd: Option<String>,
}

/// Our ends of the child's pipes.
#[derive(Debug)]
pub struct Pipes {
    pub stdin: ChildStdin,
    pub stdout: ChildStdout,
    pub stderr: ChildStderr,
}

/// Why a program was not started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no program `{program}` on the search path")]
    NotOnPath { program: String },
    #[error("there is no file {}", path.display())]
    NoFile { path: PathBuf },
    #[error("{} is not a program", path.display())]
    NotExecutable { path: PathBuf },
    #[error("there is no folder {} to start it in", path.display())]
    NoFolder { path: PathBuf },
    /// The file is there, but what its first line names as its interpreter is not.
    #[error("{} needs an interpreter that is not there", path.display())]
    NoInterpreter { path: PathBuf },
    #[error("{} cannot be started: {source}", path.display())]
    Refused { path: PathBuf, source: io::Error },
}

/// Starts a program in a tree of its own.
pub async fn spawn(spec: &Spec, environment: &Environment) -> Result<(Tree, Pipes), StartError> {
    let (answer, started) = tokio::sync::oneshot::channel();
    let (spec, environment) = (spec.clone(), environment.clone());
    let runtime = tokio::runtime::Handle::current();
    // Looking for a program and starting it block, and Linux ties the signal that a child gets at
    // our death to the thread that started it: so each child has a thread that lives as long.
    let life = move || {
        let (home, until_dropped) = mpsc::channel::<()>();
        let started = {
            let _runtime = runtime.enter();
            start(&spec, &environment, home)
        };
        if answer.send(started).is_ok() && system::THREAD_MUST_LIVE {
            let _ = until_dropped.recv();
        }
    };
    let thread = std::thread::Builder::new().name("child".into()).stack_size(STACK).spawn(life);
    let refused = |source| StartError::Refused { path: PathBuf::new(), source };
    thread.map_err(refused)?;
    started.await.unwrap_or_else(|_| Err(refused(io::Error::other("its thread ended"))))
}

const STACK: usize = 256 << 10;

fn start(
    spec: &Spec,
    environment: &Environment,
    home: mpsc::Sender<()>,
) -> Result<(Tree, Pipes), StartError> {
    let expand = |text: &str| program::expand(System::HERE, text, environment.home());
    let folder = match &spec.cwd {
        Some(folder) => Some(PathBuf::from(expand(folder))),
        None => environment.home().map(Path::to_owned).filter(|home| home.is_dir()),
    };
    if let Some(path) = folder.as_ref().filter(|folder| !folder.is_dir()) {
        return Err(StartError::NoFolder { path: path.clone() });
    }
    let variables = environment.for_child(&spec.env);
    let place = program::Place { folder: folder.as_deref(), variables: &variables };
    let path = program::find(System::HERE, &expand(&spec.program), &place, system::kind)?;

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
        Ok((Tree::new(child, group, home), pipes))
    });
    started.map_err(|source| {
        if source.kind() == io::ErrorKind::NotFound {
            StartError::NoInterpreter { path }
        } else {
            StartError::Refused { path, source }
        }
    })
}

fn pipes(child: &mut Child) -> io::Result<Pipes> {
    match (child.stdin.take(), child.stdout.take(), child.stderr.take()) {
        (Some(stdin), Some(stdout), Some(stderr)) => Ok(Pipes { stdin, stdout, stderr }),
        _ => Err(io::ErrorKind::BrokenPipe.into()),
    }
}
