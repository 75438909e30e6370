//! The arguments of `evermoor setup`.

use clap::{Args, ValueEnum};
use evermoor_setup::{EditorTransport, SetupScope};

/// The arguments of `evermoor setup`.
#[derive(Debug, Args)]
pub(crate) struct SetupArgs {
    /// The editors to connect, such as `cursor`. Without any, lists those on this computer.
    #[arg(value_name = "EDITOR")]
    pub(crate) editors: Vec<String>,
    /// Connect every editor on this computer.
    #[arg(long, conflicts_with = "editors")]
    pub(crate) all: bool,
    /// Connect for yourself (the default), or for the project in this folder.
    #[arg(long, value_enum)]
    pub(crate) scope: Option<ScopeArg>,
    /// Connect over HTTP, or over stdio with `evermoor connect`. By default, what suits the editor.
    #[arg(long, value_enum)]
    pub(crate) transport: Option<TransportArg>,
    /// Connect to this server only, with its own tool names. Can be repeated.
    #[arg(long, value_name = "NAME")]
    pub(crate) upstream: Vec<String>,
    /// Show what would change, without changing anything.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print an entry to paste, with its token, without changing any file.
    #[arg(long, conflicts_with = "dry_run")]
    pub(crate) print: bool,
    /// Restore the editor's files, including those in project folders, and revoke its token.
    #[arg(long, conflicts_with_all = ["dry_run", "print", "upstream", "transport"])]
    pub(crate) undo: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum ScopeArg {
    User,
    Project,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum TransportArg {
    Http,
    Stdio,
}

impl From<ScopeArg> for SetupScope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::User => Self::User,
            ScopeArg::Project => Self::Project,
        }
    }
}

impl From<TransportArg> for EditorTransport {
    fn from(transport: TransportArg) -> Self {
        match transport {
            TransportArg::Http => Self::Http,
            TransportArg::Stdio => Self::Stdio,
        }
    }
}
